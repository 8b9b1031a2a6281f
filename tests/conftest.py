"""What holds for every test: which skips are allowed, and how hypothesis runs."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import settings

# The machines that run this are shared: how long one example takes says nothing about the code.
settings.register_profile("toolstile", deadline=None, print_blob=True)
settings.load_profile("toolstile")

REFUSED = "marked `required`, so it may not be skipped"


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The words a test or a module was skipped with; empty if it was not (an xfail is no skip)."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return ""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip that may not stand into a failure."""
    report = yield
    required = item.get_closest_marker("required") is not None
    if required and (reason := skip_reason(report)):
        report.outcome, report.longrepr = "failed", f"{REFUSED}: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a module that skips as a whole; its marks are not known: read its text."""
    report = yield
    reason = skip_reason(report)
    if reason and "mark.required" in collector.path.read_text(encoding="utf-8"):
        report.outcome, report.longrepr = "failed", f"{REFUSED}: {reason}"
    return report
