"""A skip never hides what must be shown."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

HERE = Path(__file__).parent
TESTS = """
import pytest
def test_plain_skip(): pytest.skip("no such kernel")
@pytest.mark.required
def test_required_skip(): pytest.skip("no such kernel")
@pytest.mark.required
@pytest.mark.skipif(True, reason="no such kernel")
def test_required_skipif(): pass
@pytest.mark.required
@pytest.mark.xfail(reason="known")
def test_required_xfail(): assert False
@pytest.mark.required
def test_required_pass(): pass
@pytest.fixture
def absent(): pytest.skip("no such kernel")
@pytest.mark.required
def test_required_fixture(absent): pass
"""
MODULE = """
import pytest
pytest.importorskip("no_such_module_anywhere")
{mark}
def test_unseen(): pass
"""
EXPECTED = {
    "test_plain_skip": "skipped",
    "test_required_skip": "failure",
    "test_required_skipif": "error",  # such a skip comes before the test, in its set-up
    "test_required_fixture": "error",
    "test_required_xfail": "skipped",  # pytest's report files an expected failure there
    "test_required_pass": "passed",
    "test_free": "skipped",
    "test_bound": "error",
}


def verdicts(folder: Path) -> dict[str, str]:
    """What pytest makes of the tests above under our conftest.py: name and verdict."""
    shutil.copy(HERE / "conftest.py", folder)
    mark = "@pytest.mark.required"
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = required\n", encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "test_free.py").write_text(MODULE.format(mark=""), encoding="utf-8")
    (folder / "test_bound.py").write_text(MODULE.format(mark=mark), encoding="utf-8")
    options = ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml=report.xml"]
    command = [sys.executable, "-m", "pytest", *options]
    run = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert run.returncode == 1, "the run as a whole must fail"
    cases = ET.parse(folder / "report.xml").iter("testcase")
    return {case.attrib["name"]: next((part.tag for part in case), "passed") for case in cases}


def test_a_skip_stands_only_where_it_may(tmp_path: Path) -> None:
    """Plain skips stand, required ones fail."""
    assert verdicts(tmp_path) == EXPECTED
