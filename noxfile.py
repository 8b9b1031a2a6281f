"""The one list of commands: `./dev nox -l` shows it, `./dev test` and its like pick from it.

They run in the environment that ./dev made, not in environments of nox's own. So none of them needs
a network, except `lock` and `peers`.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "typing", "layers", "sizes", "tests"]

ROOT = Path(__file__).parent
PYTHON = sys.executable
PYTEST = (PYTHON, "-m", "pytest")
LENT = sysconfig.get_path("purelib")

# Run by the fresh interpreter of `build`, from outside the checkout.
IMPORT_IT = """
import pathlib, sys, toolstile
home = pathlib.Path(toolstile.__file__).resolve()
assert home.is_relative_to(pathlib.Path(sys.prefix).resolve()), f"imported from {home}"
assert (home.parent / "py.typed").is_file(), "py.typed is missing from the wheel"
print(f"the wheel imports: {len(toolstile.__all__)} public names")
"""


# Run by the interpreter of `peers`: a tool's process looks at no PYTHONPATH.
SEEN_FROM_HERE = """
import pathlib, site, sys
pathlib.Path(site.getsitepackages()[0], "toolstile.pth").write_text(sys.argv[1] + chr(10))
"""


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments go to pytest."""
    # A file opened without saying in which encoding warns, and warnings are errors.
    session.run(*PYTEST, *session.posargs, env={"PYTHONWARNDEFAULTENCODING": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: its rules and its format."""
    session.run(PYTHON, "-m", "ruff", "check", ".")
    session.run(PYTHON, "-m", "ruff", "format", "--check", ".")


@nox.session
def typing(session: nox.Session) -> None:
    """Mypy, strict, on the library, its tests and these scripts."""
    session.run(PYTHON, "-m", "mypy")


@nox.session
def layers(session: nox.Session) -> None:
    """The shape of the code: who imports whom, what is public, what is shipped."""
    files = ("test_layers.py", "test_public_names.py", "test_packaging.py")
    session.run(*PYTEST, *(f"tests/{file}" for file in files))


@nox.session
def sizes(session: nox.Session) -> None:
    """How long functions and modules may be, what they may be called, what no file may say."""
    session.run(*PYTEST, "tests/test_sizes.py")


@nox.session
def coverage(session: nox.Session) -> None:
    """The tests again, with the branches that they never took."""
    session.run(PYTHON, "-m", "coverage", "run", "-m", "pytest", *session.posargs)
    session.run(PYTHON, "-m", "coverage", "report")


@nox.session
def tour(session: nox.Session) -> None:
    """What Toolstile does, shown in one run."""
    program = programs(session, "examples", "tour.py")[0]
    session.run(PYTHON, program, *session.posargs)


@nox.session
def examples(session: nox.Session) -> None:
    """Run every example; warnings are errors, and state goes to a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as state:
        for program in programs(session, "examples", "*.py"):
            session.run(PYTHON, "-W", "error", program, env={"XDG_STATE_HOME": state})


@nox.session
def differential(session: nox.Session) -> None:
    """A million documents through our validation and through the reference's."""
    program = programs(session, "tests/properties", "differential.py")[0]
    session.run(PYTHON, program, *(session.posargs or ["--documents", "1000000"]))


@nox.session(name="break")
def breaks(session: nox.Session) -> None:
    """Break some of the required behaviours and see that their tests notice."""
    program = programs(session, "tests", "break_behaviours.py")[0]
    session.run(PYTHON, program, *(session.posargs or ["--share", "0.05"]))


@nox.session
def suites(session: nox.Session) -> None:
    """Public suites, recorded calls and spoilt searches, in figures."""
    for program in ("suites/json_schema_suite", "suites/toolcalls", "registry/search_queries"):
        session.run(PYTHON, f"tests/{program}.py", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Every case of the conformance suite, by every way into this gate."""
    words = session.posargs or ["--way", "all"]
    session.run(PYTHON, "-m", "toolstile", "conformance", *words)


@nox.session(venv_backend="venv", default=False)
def peers(session: nox.Session) -> None:
    """The suite on other frameworks, for the table in docs/conformance.md. Needs a network."""
    session.install("--require-hashes", "-r", "requirements/peers.txt")
    # The checkout, as an editable install has it; one would need its build backend here.
    session.run("python", "-c", SEEN_FROM_HERE, str(ROOT / "src"), silent=True)
    session.run("python", "peers/table.py", *session.posargs)


@nox.session
def dialects(session: nox.Session) -> None:
    """Recorded tools in every dialect, decoding of what vLLM gets, and the exam, in figures."""
    for program in ("exports", "decoding"):
        session.run(PYTHON, f"tests/suites/{program}.py")
    session.run(PYTHON, "tests/suites/exam.py", *(session.posargs or ["--cases", "20000"]))


@nox.session
def restarts(session: nox.Session) -> None:
    """A hundred processes with random hash seeds derive the same bytes."""
    session.run(PYTHON, "tests/suites/restarts.py", *(session.posargs or ["100"]))


@nox.session
def stress(session: nox.Session) -> None:
    """64 threads change, read and search one registry for half a minute."""
    session.run(PYTHON, "tests/registry/test_registry.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Run every benchmark; each prints ratios, measured side by side in one run."""
    for program in programs(session, "benchmarks", "bench_*.py"):
        session.run(PYTHON, program, *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build the wheel, install it into a fresh environment and import it there."""
    with tempfile.TemporaryDirectory() as place:
        wheels, fresh = Path(place, "wheels"), Path(place, "fresh")
        pip = (PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet")
        alone = ("--no-deps", "--no-build-isolation")
        session.run(*pip, "wheel", *alone, "--wheel-dir", str(wheels), str(ROOT))
        session.run(PYTHON, "-m", "venv", "--without-pip", str(fresh))
        python = str(fresh / "bin" / "python")
        wheel = str(next(wheels.glob("toolstile-*.whl")))
        session.run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel)
        # The dependencies are lent from here: no network. The checkout is not lent with them,
        # because Python does not follow the .pth files of a folder on PYTHONPATH.
        with session.chdir(place):
            session.run(python, "-c", IMPORT_IT, env={"PYTHONPATH": LENT})


@nox.session(venv_backend="venv", default=False)
def lock(session: nox.Session) -> None:
    """Write the locks in requirements/ anew from their .in files. Needs a network."""
    session.install("pip-tools")
    # No line of a lock may tell which index it came from: that is the reader's own setting.
    silent = ("no-emit-index-url", "no-emit-trusted-host", "no-emit-find-links", "no-emit-options")
    options = ("quiet", "generate-hashes", "strip-extras", "allow-unsafe", *silent)
    for name in ("pip", "run", "local", "dev", "peers"):
        files = ("--output-file", f"requirements/{name}.txt", f"requirements/{name}.in")
        session.run(
            "pip-compile",
            *(f"--{option}" for option in options),
            *session.posargs,
            *files,
            env={"CUSTOM_COMPILE_COMMAND": "./dev nox -s lock"},
        )


def programs(session: nox.Session, folder: str, pattern: str) -> list[str]:
    """The programs there; a session that would run none says so and fails."""
    found = sorted(str(path) for path in Path(folder).glob(pattern))
    if not found:
        session.error(f"there is no {folder}/{pattern} in this checkout yet")
    return found
