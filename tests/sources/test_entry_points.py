"""What installed packages offer: only what is named is loaded, and a bad one harms no other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolstile import Runtime
from toolstile.app import load_tools
from toolstile.errors import ConflictError
from toolstile.model.vocabulary import Status
from toolstile.registry.registry import Registry
from toolstile.schema.compiled import CompiledSchema, compiled
from toolstile.schema.defining import Vocabulary, inspect
from toolstile.schema.extensions import Extensions
from toolstile.settings import load_settings
from toolstile.sources.entry_points import extensions, providers

DEFINITIONS = """
def tool(name):
    return {"name": name, "description": "A tool"}
"""
GIVE = "def tools(registry):\n    registry.register(tool('half'))\n"
DECORATED = '''
from toolstile.authoring import tool as t
@t
def tools(a: int) -> int:
    """Double it."""
    return a * 2
'''
CLASS = """
class Double:
    name = "double"
    usage = "Use it to double a number."
    schema = staticmethod(lambda: tool("double"))
    async def execute(self, arguments_json, context): ...
"""
GOOD = DEFINITIONS + "tools = [tool('one'), tool('two')]\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path to install packages into; what is imported from it is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def install(site: Path, package: str, code: str, points: dict[str, dict[str, str]]) -> None:
    """A distribution as pip leaves it: a module, METADATA and entry_points.txt."""
    (site / f"{package}.py").write_text(code, encoding="utf-8")
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = [
        line
        for group, named in points.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def offer(site: Path, package: str, code: str, attribute: str = "tools") -> None:
    """A distribution with one provider, which has its name."""
    points = {"toolstile.tools": {package: f"{package}:{attribute}"}}
    install(site, package, code, points)


GIVES = {
    "a list": ("tools = [tool('one'), tool('two')]", ["one", "two"]),
    "a tuple": ("tools = (tool('one'),)", ["one"]),
    "a generator": ("tools = (tool(name) for name in ('one', 'two'))", ["one", "two"]),
    "one mapping": ("tools = tool('one')", ["one"]),
    "nothing": ("tools = []", []),
    "a callable": (GIVE + "    registry.register(tool('two'))", ["half", "two"]),
    "a bound method": (
        "class P:\n    def give(self, registry): registry.register(tool('one'))\ntools = P().give",
        ["one"],
    ),
    "a decorated function": (DECORATED, ["tools"]),
    "a class": (CLASS + "tools = Double", ["double"]),
    "a list with a class": (CLASS + "tools = [Double, tool('one')]", ["double", "one"]),
    "definitions": (
        "from toolstile.schema.defining import define\ntools = [define(tool('one'))]",
        ["one"],
    ),
}
# Each gives a tool before it fails, where it can: of a provider that fails nothing stays.
FAILS = {
    "a syntax error": "tools = [",
    "an import error": "import no_such_module_anywhere\ntools = []",
    "an exception": "raise RuntimeError('secret text')",
    "the end of the program": "import sys\nsys.exit(3)",
    "a missing name": "tool_list = []",
    "None": "tools = None",
    "a number": "tools = 5",
    "a text": "tools = 'read_file'",
    "a list of texts": "tools = ['read_file']",
    "a tool and a number": "tools = [tool('half'), 5]",
    "a mapping that is no JSON": "tools = [tool('half'), {'name': object()}]",
    "a callable that raises": GIVE + "    1 / 0",
    "a callable that exits": GIVE + "    exit()",
    "a callable of no arguments": "def tools(): return [tool('half')]",
    "a callable that returns tools": "def tools(registry): return [tool('half')]",
    "a callable that registers a number": "def tools(registry): registry.register(5)",
    "a generator that raises": "def g():\n    yield tool('half')\n    1 / 0\ntools = g()",
    "an endless generator": "def g():\n    while True: yield tool('half')\ntools = g()",
    "an attribute that raises": (
        "class P:\n    @property\n    def tool(self): raise RuntimeError\ntools = P()"
    ),
}


@pytest.mark.parametrize("name", GIVES)
def test_each_form_of_provider_loads(site: Path, name: str) -> None:
    """A callable that registers, an iterable of tools, or one tool: all that they give is there."""
    code, expected = GIVES[name]
    offer(site, "acme", DEFINITIONS + code)
    registry = Registry()
    assert providers(["acme"], registry) == ()
    assert [definition.name for definition in registry.all()] == expected


@pytest.mark.parametrize("name", FAILS)
def test_one_failing_provider_takes_nobody_down(site: Path, name: str) -> None:
    """A provider that fails, however it fails, is reported; of it nothing loads, of others all."""
    offer(site, "bad", DEFINITIONS + FAILS[name])
    offer(site, "good", GOOD)
    registry = Registry()
    (failure,) = providers(["bad", "good"], registry)
    assert (failure.name, failure.index) == ("bad", 0)
    assert [definition.name for definition in registry.all()] == ["one", "two"]
    assert "secret text" not in failure.reason
    assert all(issue.hint for issue in failure.issues)


def test_only_what_is_named_is_imported(site: Path) -> None:
    """An installed provider that nobody named is not imported."""
    offer(site, "bystander", "raise SystemExit(9)")
    offer(site, "acme", GOOD)
    assert providers(["acme"], Registry()) == ()
    assert "acme" in sys.modules
    assert "bystander" not in sys.modules


def test_no_names_cost_nothing(site: Path) -> None:
    """Without names nothing is imported, and nothing fails."""
    offer(site, "bystander", "raise SystemExit(9)")
    assert providers([], Registry()) == ()


def test_an_unknown_provider_is_reported_with_what_is_near(site: Path) -> None:
    """A misspelt name says what was meant; a name far from all says what there is."""
    offer(site, "acme_tools", GOOD)
    near, far = providers(["acme_tool", "zzz"], Registry())
    assert near.issues[0].hint == "did you mean 'acme_tools'?"
    assert "acme_tools" in (far.issues[0].hint or "")


def test_a_name_that_two_packages_offer_is_refused(site: Path) -> None:
    """A second package cannot slip its code under the name of a first, nor may the order decide."""
    offer(site, "acme", GOOD)
    points = {"toolstile.tools": {"acme": "evil:tools"}}
    install(site, "evil", "raise SystemExit(9)", points)
    registry = Registry()
    (failure,) = providers(["acme"], registry)
    assert "acme, evil" in failure.reason
    assert len(registry) == 0
    assert not {"acme", "evil"} & set(sys.modules)


def test_a_package_that_is_found_twice_counts_once(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two installs of one package the first on the path counts, as for its imports."""
    offer(site, "acme", GOOD)
    shadowed = tmp_path_factory.mktemp("shadowed")
    offer(shadowed, "acme", "raise SystemExit(9)")
    monkeypatch.setattr(sys, "path", [*sys.path, str(shadowed)])
    registry = Registry()
    assert providers(["acme"], registry) == ()
    assert len(registry) == 2


@pytest.mark.parametrize("content", [b"\xff\xfe[", b"[toolstile.tools", b"= = =\n[]\n"])
def test_broken_metadata_of_a_bystander_harms_nobody(site: Path, content: bytes) -> None:
    """A package whose entry points cannot be read does not hide those of the others."""
    offer(site, "acme", GOOD)
    install(site, "broken", "", {})
    (site / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    registry = Registry()
    assert providers(["acme"], registry) == ()
    assert len(registry) == 2


@pytest.mark.parametrize("value", ["", "acme:", ":tools", "acme tools", "../acme:tools"])
def test_a_malformed_entry_point_is_reported(site: Path, value: str) -> None:
    """What names no object is a failure, not a crash."""
    install(site, "acme", GOOD, {"toolstile.tools": {"acme": value}})
    (failure,) = providers(["acme"], Registry())
    assert failure.name == "acme"


def test_a_refused_tool_is_left_out_alone(site: Path) -> None:
    """Of a provider that loads, a tool that the registry refuses is reported with its issues."""
    offer(site, "acme", GOOD + "tools += [tool('Bad'), tool('three')]")
    registry = Registry()
    (failure,) = providers(["acme"], registry)
    assert failure.name == "acme: Bad"
    assert failure.issues[0].path == "/name"
    assert [definition.name for definition in registry.all()] == ["one", "three", "two"]


def test_a_name_that_is_taken_is_reported(site: Path) -> None:
    """A provider cannot take the place of a tool that is there; its other tools load."""
    offer(site, "acme", GOOD)
    registry = Registry()
    registry.register({"name": "one", "description": "Mine"})
    with pytest.raises(ConflictError):
        registry.register({"name": "one", "description": "Theirs"})
    (failure,) = providers(["acme"], registry)
    assert failure.name == "acme: one"
    assert registry.get("one").description == "Mine"
    assert "two" in registry


# --- formats and keywords ---------------------------------------------------------------------

JUDGES = """
def even(text): return len(text) % 2 == 0
def raising(text): raise RuntimeError(text)
def leaving(text): raise SystemExit
def matching(text):
    import re
    return re.fullmatch('[0-9]+', text)
def odd_answer(text):
    class Answer:
        def __bool__(self): raise RuntimeError
    return Answer()
def divides(value, instance): return instance % value == 0
number = 5
"""


@pytest.fixture
def judges(site: Path) -> Path:
    """A package with formats and keywords."""
    formats = ("even", "raising", "leaving", "matching", "odd_answer", "number")
    points = {
        "toolstile.formats": {name: f"judges:{name}" for name in formats}
        | {"email": "judges:even", "both": "judges:even", "x-y": "judges:even"},
        "toolstile.keywords": {"divides": "judges:divides", "both": "judges:divides"}
        | {"minimum": "judges:divides", "$id": "judges:divides", "x-mine": "judges:divides"},
    }
    install(site, "judges", JUDGES, points)
    return site


def fits(schema: dict[str, Any], value: Any, loaded: Extensions) -> bool:
    """Whether a value fits the only property of a schema."""
    whole = {"type": "object", "properties": {"a": schema}, "additionalProperties": False}
    return CompiledSchema(whole, loaded).check({"a": value}).ok


def test_a_format_and_a_keyword_are_asserted(judges: Path) -> None:
    """A definition may use what was named, and values are held to it."""
    found = extensions(["even", "divides"])
    assert found.failures == ()
    properties: dict[str, dict[str, Any]] = {
        "a": {"type": "string", "format": "even"},
        "b": {"type": "integer", "divides": 3},
    }
    document = {
        "name": "x",
        "description": "X",
        "parameters": {"type": "object", "properties": properties},
    }
    assert inspect(document).definition is None
    assert inspect(document, Vocabulary(extensions=found.extensions)).definition is not None
    assert fits(properties["a"], "abcd", found.extensions)
    assert not fits(properties["a"], "abc", found.extensions)
    assert fits(properties["b"], 9, found.extensions)
    assert not fits(properties["b"], 10, found.extensions)


CHECKED = {
    "name": "checked",
    "description": "Takes what extensions judge.",
    "parameters": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "format": "even"},
            "b": {"type": "integer", "divides": 3},
        },
    },
    "output_schema": {"type": "integer", "divides": 2},
    "side_effects": ["none"],
    "source": {"python": "checked:checked"},
}


def test_a_project_names_its_extensions(judges: Path) -> None:
    """What the settings list is enforced wherever a value is checked: by the registry, on the way
    into a call and out of it. What they do not list takes the definition out."""
    body = "def checked(a='ab', b=0): return b"
    (judges / "checked.py").write_text(body, encoding="utf-8")
    tools = {"custom": [CHECKED], "extensions": ["even", "divides"]}
    with Runtime(settings={"tools": tools, "store": "memory:"}).blocking() as runtime:
        wrong = runtime.registry.check("checked", {"a": "abc", "b": 4})
        assert [(issue.path, issue.code) for issue in wrong.issues] == [
            ("/a", "format"),
            ("/b", "divides"),
        ]
        assert runtime.registry.check("checked", {"a": "ab", "b": 3}).ok
        refused = runtime.call("checked", {"b": 4})
        assert refused.error_code == "ACODE_TSR_005"
        assert runtime.call("checked", {"b": 6}).value == 6
        odd = runtime.call("checked", {"b": 3})
        assert odd.status is Status.OUTPUT_VALIDATION_FAILED
    for listed in ([], ["divides"], ["even", "devides"]):
        loaded = load_tools(load_settings({"tools": {**tools, "extensions": listed}}))
        assert loaded.failures
        assert "checked" not in loaded.registry


def test_what_nobody_knows_is_not_passed_over(judges: Path) -> None:
    """A schema that was accepted with an extension is not enforced without it, and nothing fits."""
    schema = {"type": "integer", "divides": 3}
    with_it = extensions(["divides"]).extensions
    assert not compiled(schema, with_it).is_valid(4)
    assert compiled(schema, with_it) is compiled(schema, with_it)
    for unknown in (schema, {"type": "string", "format": "even"}):
        with pytest.raises(ValueError, match=r"divides|even"):
            compiled(unknown)


@pytest.mark.parametrize("name", ["raising", "leaving", "odd_answer"])
def test_what_a_format_raises_means_that_it_does_not_fit(
    judges: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An extension that fails refuses the value, and the log does not show the value."""
    found = extensions([name])
    assert not fits({"type": "string", "format": name}, "a secret", found.extensions)
    assert name in caplog.text
    assert "a secret" not in caplog.text


def test_what_a_keyword_raises_means_that_it_does_not_fit(judges: Path) -> None:
    """A keyword that was not made for a value refuses it."""
    found = extensions(["divides"])
    assert not fits({"type": "string", "divides": 3}, "text", found.extensions)
    assert not fits({"type": "integer", "divides": 0}, 3, found.extensions)


def test_a_truthy_answer_counts(judges: Path) -> None:
    """A format may answer with a match."""
    found = extensions(["matching"])
    assert fits({"type": "string", "format": "matching"}, "12", found.extensions)
    assert not fits({"type": "string", "format": "matching"}, "ab", found.extensions)


@pytest.mark.parametrize("name", ["email", "minimum", "$id", "x-mine", "x-y", "number", "evn"])
def test_what_may_not_be_an_extension_is_reported(judges: Path, name: str) -> None:
    """The standard's names keep their meaning, and what is no function is none; others load."""
    found = extensions([name, "even"])
    assert [failure.name for failure in found.failures] == [name]
    assert list(found.extensions.formats) == ["even"]
    assert list(found.extensions.keywords) == []


def test_a_name_in_both_groups_means_both(judges: Path) -> None:
    """One name may stand for a format and a keyword."""
    found = extensions(["both"])
    assert list(found.extensions.formats) == list(found.extensions.keywords) == ["both"]


def test_importing_the_module_reads_no_metadata() -> None:
    """The standard library's metadata reader takes long to import, so it waits until it is used."""
    program = (
        "import sys, toolstile.sources.entry_points\n"
        "before = 'importlib.metadata' in sys.modules\n"
        "toolstile.sources.entry_points.extensions([])\n"
        "print(before)\n"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True)
    assert run.stdout == b"False\n"
