"""Settings: what a project wrote, whole and checked, each value with the place it came from."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.errors import SettingsError
from toolstile.model.capability import Capability, CapabilityKind, granted
from toolstile.model.vocabulary import IsolationLevel
from toolstile.settings import Settings, SettingsFile, load_settings, make_private
from toolstile.settings.files import parse_yaml, write_yaml
from toolstile.settings.places import lies_in, state_directory
from toolstile.settings.reading import READERS
from toolstile.settings.rights import RIGHTS
from toolstile.settings.values import UNENFORCED
from toolstile.settings.written import VARIABLES
from toolstile.sources.declared import declared_tools

# The contract's example (section 6), its ellipses filled in and its longest lines broken.
EXAMPLE = """\
tenant: local
store: sqlite                                  # in $XDG_STATE_HOME/toolstile/<project>
grants:
  {fs_read: ["./workspace"], fs_write: ["./workspace"], net_read: ["api.example.org"], secret: [gh]}
permissions: ["tool.filesystem.*"]
agents: {reviewer: {tools: [read_file, list_directory], grants: {fs_read: ["./docs"]}}}
policy: .agent/policy.cedar
tools:
  {custom: [ {name: word_count, description: Count words} ], disabled: [write_file],
   providers: [my_package]}
mcp_servers:
  { git: {command: mcp-server-git, args: [--repository, .], isolation: strict, pin: true} }
licence: {issuer_key: MCowBQYDK2VwAyEA, token: file:licence.jws}
limits: {calls_per_minute: 600, concurrent: 64}     # an example; default: no rate, 1,024 concurrent
retention: {days: 30}
secrets: {from: env}
features: {definitions: on, results: on}            # LEX's feature gates
"""


class Project:
    """A project directory with a home of its own, so that nothing of this machine is looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root / "home" / "project"
        self.root.mkdir(parents=True)
        self.environ = {"HOME": str(root / "home"), "XDG_STATE_HOME": str(root / "state")}

    @property
    def config(self) -> Path:
        """Its configuration file."""
        return self.root / ".agent" / "config.yml"

    def write(self, text: str | bytes) -> Path:
        """Write the configuration file."""
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.config

    def load(self, source: Any = None, **overrides: Any) -> Settings:
        """Load from within the project."""
        return load_settings(source, environ=self.environ, start=self.root, overrides=overrides)

    def faults(self, source: Any = None, **overrides: Any) -> list[tuple[str, str, str]]:
        """Path, code and message of each fault."""
        with pytest.raises(SettingsError) as caught:
            self.load(source, **overrides)
        assert all(issue.hint for issue in caught.value.issues)
        return [(issue.path, issue.code, issue.message) for issue in caught.value.issues]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(Path(os.path.realpath(tmp_path)))


# --- the contract -----------------------------------------------------------------------------


def test_the_example_of_the_contract_loads(project: Project) -> None:
    """Every line of the documented example is read, and means what it says."""
    project.write(EXAMPLE)
    found = project.load()
    root = project.root
    assert (found.tenant, found.store, found.project) == ("local", "sqlite", root)
    assert found.grants == (
        granted("fs_read", [f"{root}/workspace"]),
        granted("fs_write", [f"{root}/workspace"]),
        granted("net_read", ["api.example.org"]),
        granted("secret", ["gh"]),
    )
    assert found.permissions == ("tool.filesystem.*",)
    reviewer = found.agents["reviewer"]
    assert reviewer.tools == ("read_file", "list_directory")
    assert reviewer.grants == (granted("fs_read", [f"{root}/docs"]),)
    assert reviewer.permissions is None
    assert found.policy == root / ".agent" / "policy.cedar"
    assert found.tools.custom == ({"name": "word_count", "description": "Count words"},)
    assert (found.tools.disabled, found.tools.providers) == (("write_file",), ("my_package",))
    git = found.mcp_servers["git"]
    assert (git.command, git.args) == ("mcp-server-git", ("--repository", "."))
    assert (git.isolation, git.pin) == (IsolationLevel.STRICT, True)
    assert found.licence.issuer_key == "MCowBQYDK2VwAyEA"
    assert found.licence.token == f"file:{root}/licence.jws"
    assert (found.limits.calls_per_minute, found.limits.concurrent) == (600, 64)
    assert (found.retention.days, found.secrets.source) == (30, "env")
    assert (found.features.definitions, found.features.results) == (True, True)
    assert found.warnings == ()


def test_the_example_names_every_key() -> None:
    """What can be set stands in the example, but for the long ugly name that nobody should copy."""
    keys = {line.partition(":")[0] for line in EXAMPLE.splitlines() if line[0] != " "}
    assert keys == {*READERS, *RIGHTS} - {UNENFORCED}


def test_the_tools_of_the_file_are_handed_on(project: Project) -> None:
    """What stands in `tools.custom` goes to the translator as written, faults and all."""
    custom = "[{name: word_count, description: Count}, {name: Bad}, 7]"
    project.write(f"tools: {{custom: {custom}}}")
    settings = project.load()
    declared = declared_tools(settings.tools.custom)
    assert [tool.name for tool in declared.tools] == ["word_count"]
    assert [failure.index for failure in declared.failures] == [1, 2]


def test_nothing_set_is_nothing_granted(project: Project) -> None:
    """Without a file there are defaults: no right, no tool of one's own, the built-in policy."""
    found = project.load()
    assert (found.grants, found.tools.custom, found.tools.providers) == ((), (), ())
    assert (found.tenant, found.store, found.policy) == ("local", "sqlite", None)
    assert found.permissions is None  # those that go with the grants, so none
    assert (found.limits.concurrent, found.limits.queued) == (1_024, 10_000)
    assert found.limits.calls_per_minute is None
    assert found.unenforced_accepted == frozenset()
    assert (found.project, found.origin("/store")) == (project.root, "default")


@pytest.mark.parametrize("text", ["", "# only comments\n", "{}", "---\n"])
def test_a_file_without_keys_sets_nothing(project: Project, text: str) -> None:
    """A file in which everything is commented out is as good as none."""
    project.write(text)
    nothing = msgspec.structs.replace(project.load(), origins={})
    project.config.unlink()
    assert nothing == msgspec.structs.replace(project.load(), origins={})


# --- finding the file -------------------------------------------------------------------------


def test_the_nearest_file_upwards_counts(project: Project) -> None:
    """From a folder of the project its file is found, and paths begin at the project."""
    project.write("grants: {fs_read: [docs]}")
    deep = project.root / "a" / "b"
    deep.mkdir(parents=True)
    found = load_settings(environ=project.environ, start=deep)
    assert found.grants == (granted("fs_read", [f"{project.root}/docs"]),)
    assert found.project == project.root
    nearer = project.root / "a" / ".agent" / "config.yml"
    nearer.parent.mkdir()
    nearer.write_text("tenant: nearer", encoding="utf-8")
    assert load_settings(environ=project.environ, start=deep).tenant == "nearer"


def test_the_search_ends_at_home(project: Project) -> None:
    """A file in the home directory is found from below it, one above it never."""
    above = project.root.parents[1] / ".agent" / "config.yml"
    above.parent.mkdir()
    above.write_text("tenant: above", encoding="utf-8")
    assert project.load().tenant == "local"
    at_home = project.root.parent / ".agent" / "config.yml"
    at_home.parent.mkdir()
    at_home.write_text("tenant: home", encoding="utf-8")
    assert project.load().tenant == "home"
    # Where home is elsewhere nothing ends the search but the root.
    project.environ["HOME"] = "/nonexistent"
    at_home.unlink()
    assert project.load().tenant == "above"


def test_links_to_the_project_change_nothing(project: Project) -> None:
    """Started through a link, the same file is found, and rights are to the same places."""
    project.write("grants: {fs_read: [docs]}")
    link = project.root.parent / "link"
    link.symlink_to(project.root)
    found = load_settings(environ=project.environ, start=link)
    assert found == project.load()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("planted", [".agent", ".agent/config.yml"])
def test_a_file_that_somebody_else_planted_is_refused(project: Project, planted: str) -> None:
    """In a shared parent such as /tmp, another user's .agent is refused; ours is obeyed."""
    below = project.root / "below"
    below.mkdir()
    project.write("tenant: mine")
    assert load_settings(environ=project.environ, start=below).tenant == "mine"
    os.chown(project.root / planted, 65_533, 65_533)
    with pytest.raises(SettingsError, match="belongs to another user"):
        load_settings(environ=project.environ, start=below)
    # Named, it is trusted; and so it is where the working directory is of that user, too.
    assert load_settings(project.config, environ=project.environ).tenant == "mine"
    os.chown(below, 65_533, 65_533)
    assert load_settings(environ=project.environ, start=below).tenant == "mine"


@pytest.mark.parametrize("rights", ["grants: R", "agents: {me: {grants: R}}"])
def test_a_file_that_a_tool_could_have_written_is_refused(project: Project, rights: str) -> None:
    """Where the tools of a project above may write, a nearer file is not obeyed unless named: a
    tool could have put it there for whoever starts there next. Elsewhere nesting is fine."""
    inner = project.root / "workspace" / ".agent" / "config.yml"
    inner.parent.mkdir(parents=True)
    inner.write_text("grants: {net_read: [any]}", encoding="utf-8")
    deep = inner.parents[1] / "deep"
    deep.mkdir()
    for written, refused in (("workspace", True), ("workspace/.agent", True), ("other", False)):
        project.write(rights.replace("R", f"{{fs_write: [{written}], fs_read: [workspace]}}"))
        if not refused:
            assert load_settings(environ=project.environ, start=deep).grants[0].everything
            continue
        with pytest.raises(SettingsError, match="a tool may have written it"):
            load_settings(environ=project.environ, start=deep)
        assert load_settings(inner, environ=project.environ).grants[0].everything


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_foreign_file_above_is_no_obstacle(project: Project) -> None:
    """Who plants a file above ours cannot keep us from working with ours."""
    inner = project.root / "inner" / ".agent" / "config.yml"
    inner.parent.mkdir(parents=True)
    inner.write_text("tenant: mine", encoding="utf-8")
    os.chown(project.write("tenat: broken"), 65_533, 65_533)
    start = inner.parents[1]
    assert load_settings(environ=project.environ, start=start).tenant == "mine"


def test_a_named_file_must_be_there(project: Project) -> None:
    """A misspelt path never means defaults."""
    ((path, code, message),) = project.faults(project.root / "confg.yml")
    assert (path, code) == ("", "file")
    assert "confg.yml" in message


def test_a_file_elsewhere_speaks_of_its_own_folder(project: Project) -> None:
    """Relative paths of a file that lies in no .agent begin where it lies."""
    elsewhere = project.root / "elsewhere"
    elsewhere.mkdir()
    file = elsewhere / "toolstile.yml"
    file.write_text("grants: {fs_read: [docs]}", encoding="utf-8")
    assert project.load(file).grants == (granted("fs_read", [f"{elsewhere}/docs"]),)


def _pipe(project: Project) -> None:
    os.mkfifo(project.config)


def _directory(project: Project) -> None:
    project.config.mkdir()


def _dangling(project: Project) -> None:
    project.config.symlink_to("nowhere")


def _circle(project: Project) -> None:
    project.config.symlink_to("config.yml")


def _endless(project: Project) -> None:
    project.config.symlink_to("/dev/zero")


def _circle_above(project: Project) -> None:
    project.config.parent.rmdir()
    project.config.parent.symlink_to(".agent")


@pytest.mark.parametrize("make", [_pipe, _directory, _dangling, _circle, _circle_above, _endless])
def test_what_is_no_file_is_refused(project: Project, make: Callable[[Project], None]) -> None:
    """A pipe, a folder, a device or a broken link is neither waited for nor taken for absent."""
    project.config.parent.mkdir()
    make(project)
    ((path, code, _),) = project.faults()
    assert (path, code) == ("", "file")


# --- hostile YAML -----------------------------------------------------------------------------

HOSTILE: dict[str, str | bytes] = {
    "a list": "- tenant: local",
    "a text": "tenant",
    "two documents": "tenant: a\n---\ntenant: b",
    "a duplicate key": "tenant: a\ntenant: b",
    "a nested duplicate key": "limits: {concurrent: 1, concurrent: 2}",
    "a Python object": "tenant: !!python/object/apply:os.system ['true']",
    "an alias bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntools: {custom: [*c, *c]}",
    "a circle": "tools: &a {custom: [*a]}",
    "a merge": "a: &a {tenant: x}\n<<: *a",
    "far too deep": "tools: {custom: " + "[" * 5_000 + "]" * 5_000 + "}",
    "no UTF-8": b"tenant: \xff\xfe",
    "UTF-16": "tenant: local".encode("utf-16"),
    "a null byte": b"tenant: a\x00b",
    "cut off": "grants: {fs_read: [",
    "a tab": "grants:\n\tfs_read: []",
    "too long": "# " + "x" * (1 << 20),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_yaml_is_refused(project: Project, name: str) -> None:
    """YAML that means more than plain data, or two things, or no end, is refused as a whole."""
    project.write(HOSTILE[name])
    assert project.faults()


# --- faults -----------------------------------------------------------------------------------

# What stands in the file; where the fault is and what it is called.
FAULTY: dict[str, tuple[str, str]] = {
    "tenat: local": ("/tenat", "unknown_field"),
    "tenant: 5": ("/tenant", "type"),
    "tenant: ''": ("/tenant", "name"),
    'tenant: "a\\nb"': ("/tenant", "name"),
    "tenant:": ("/tenant", "type"),
    "store: memory": ("/store", "enum"),
    "store: sqlite:x.db": ("/store", "enum"),
    "store: 'sqlite:///'": ("/store", "enum"),
    "store: 'postgresql://'": ("/store", "enum"),
    "store: [sqlite]": ("/store", "type"),
    "grants:": ("/grants", "type"),
    "grants: [fs_read]": ("/grants", "type"),
    "grants: {fs_reed: [a]}": ("/grants/fs_reed", "unknown_field"),
    "grants: {fs_read: a}": ("/grants/fs_read", "type"),
    "grants: {fs_read: [1]}": ("/grants/fs_read", "type"),
    "grants: {fs_read: ['*']}": ("/grants/fs_read/0", "capability"),
    "grants: {fs_read: [a, 'b/*']}": ("/grants/fs_read/1", "capability"),
    "grants: {fs_read: [/]}": ("/grants/fs_read/0", "capability"),
    "grants: {fs_read: ['~/a']}": ("/grants/fs_read/0", "capability"),
    "grants: {net_read: [any, a.example]}": ("/grants/net_read", "capability"),
    "grants: {net_read: ['http://a.example']}": ("/grants/net_read/0", "capability"),
    "grants: {secret: ['']}": ("/grants/secret/0", "capability"),
    "permissions: tool.*": ("/permissions", "type"),
    "permissions: [tool.filesystem.raed]": ("/permissions/0", "permission"),
    "permissions: ['*']": ("/permissions/0", "permission"),
    "agents: [me]": ("/agents", "type"),
    "agents: {me: {tool: [a]}}": ("/agents/me/tool", "unknown_field"),
    "agents: {me: {tools: ['*']}}": ("/agents/me/tools/0", "name"),
    "agents: {me: {grants: {fs_read: [/]}}}": ("/agents/me/grants/fs_read/0", "capability"),
    "agents: {' me': {}}": ("/agents/ me", "name"),
    "policy:": ("/policy", "type"),
    "policy: ' '": ("/policy", "minLength"),
    'policy: "a\\0b"': ("/policy", "hidden_unicode"),
    "policy: ~/policy.cedar": ("/policy", "path"),
    "tools: {custom: {name: a}}": ("/tools/custom", "type"),
    "tools: {disable: [a]}": ("/tools/disable", "unknown_field"),
    "tools: {disabled: [a, a]}": ("/tools/disabled", "uniqueItems"),
    "tools: {disabled: [A]}": ("/tools/disabled/0", "name"),
    "tools: {providers: ['my package']}": ("/tools/providers/0", "name"),
    "tools: {pins: {read_file: later}}": ("/tools/pins/read_file", "version"),
    "tools: {pins: {read_file: 1.2}}": ("/tools/pins/read_file", "type"),
    "tools: {pins: {Read: ^1}}": ("/tools/pins/Read", "name"),
    "mcp_servers: {git: {}}": ("/mcp_servers/git", "required"),
    "mcp_servers: {git: {command: a, url: 'https://a.example'}}": ("/mcp_servers/git", "required"),
    "mcp_servers: {git: {url: 'file:///etc/passwd'}}": ("/mcp_servers/git/url", "format"),
    "mcp_servers: {git: {command: a, args: --x}}": ("/mcp_servers/git/args", "type"),
    "mcp_servers: {git: {command: a, env: {A B: c}}}": ("/mcp_servers/git/env/A B", "name"),
    "mcp_servers: {git: {command: a, isolation: none}}": (
        "/mcp_servers/git/isolation",
        "isolation",
    ),
    "mcp_servers: {git: {command: a, isolation: strickt}}": ("/mcp_servers/git/isolation", "enum"),
    "mcp_servers: {git: {command: a, pin: maybe}}": ("/mcp_servers/git/pin", "enum"),
    "mcp_servers: {'../x': {command: a}}": ("/mcp_servers/..~1x", "name"),
    "licence: {token: abc}": ("/licence/issuer_key", "required"),
    "licence: {key: abc}": ("/licence/key", "unknown_field"),
    "limits: {concurrent: 0}": ("/limits/concurrent", "range"),
    "limits: {concurrent: '64'}": ("/limits/concurrent", "type"),
    "limits: {concurrent: 1.5}": ("/limits/concurrent", "type"),
    "limits: {concurrent: true}": ("/limits/concurrent", "type"),
    "limits: {calls_per_minute: -1}": ("/limits/calls_per_minute", "range"),
    "limits: 5": ("/limits", "type"),
    "retention: {days: 30d}": ("/retention/days", "type"),
    "secrets: {from: vault}": ("/secrets/from", "enum"),
    "features: {results: maybe}": ("/features/results", "enum"),
    "features: {result: on}": ("/features/result", "unknown_field"),
    f"{UNENFORCED}: [net_reed]": (f"/{UNENFORCED}/0", "enum"),
    f"{UNENFORCED}: net_read": (f"/{UNENFORCED}", "type"),
}


@pytest.mark.parametrize("text", FAULTY)
def test_a_fault_is_found_in_its_place(project: Project, text: str) -> None:
    """Each fault is told with its pointer, and with the file and line where it stands."""
    project.write(f"# a comment\n{text}\n")
    path, code = FAULTY[text]
    found = project.faults()
    assert (path, code) in [(each[0], each[1]) for each in found]
    assert all(message.startswith("file .agent/config.yml:2: ") for _, _, message in found)


def test_all_faults_are_told_at_once(project: Project) -> None:
    """One look at the report is enough, whether a fault is the file's or a variable's."""
    project.write(
        "\n".join(text for text in FAULTY if text.partition(":")[0] in ("tenat", "limits"))
    )
    project.write("tenat: x\nlimits: {concurrent: 0}\ngrants:\n  fs_reed: []\n  fs_read: [/]\n")
    project.environ["TOOLSTILE_STORE"] = "oracle"
    found = {path: message for path, _, message in project.faults(permissions=["tool.x"])}
    assert {path: message.partition(": ")[0] for path, message in found.items()} == {
        "/tenat": "file .agent/config.yml:1",
        "/limits/concurrent": "file .agent/config.yml:2",
        "/grants/fs_reed": "file .agent/config.yml:4",
        "/grants/fs_read/0": "file .agent/config.yml:5",
        "/store": "environment TOOLSTILE_STORE",
        "/permissions/0": "argument",
    }


def test_a_misspelt_key_says_what_was_meant(project: Project) -> None:
    """An unknown key comes with the nearest known one."""
    project.write("polcy: a")
    with pytest.raises(SettingsError, match="did you mean 'policy'"):
        project.load()


def test_no_message_shows_a_value(project: Project) -> None:
    """What is wrong may be a password: a message describes it and never quotes it."""
    project.write(
        "store: mysql://root:hunter2@db/x\nlicence: {token: [hunter2]}\npolicy: {a: hunter2}\n"
        "mcp_servers: {git: {command: a, env: {K: [hunter2]}, url: 'ftp://hunter2'}}\n"
        "tenant: [hunter2]\nsecrets: {from: hunter2}\nlimits: {concurrent: hunter2}\n"
    )
    with pytest.raises(SettingsError) as caught:
        project.load()
    assert len(caught.value.issues) >= 7
    assert "hunter2" not in str(caught.value)


def test_permissions_of_providers_are_left_to_them(project: Project) -> None:
    """An unknown permission is a slip of the pen, unless a provider is listed who may bring it."""
    project.write("permissions: [crm.contact.read, 'crm.*']")
    assert len(project.faults()) == 2
    project.write("permissions: [crm.contact.read, 'crm.*']\ntools: {providers: [crm]}")
    assert project.load().permissions == ("crm.contact.read", "crm.*")
    project.write("permissions: ['c r m', '*']\ntools: {providers: [crm]}")
    assert len(project.faults()) == 2


# --- single values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqlite", "sqlite"),
        ("'memory:'", "memory:"),
        ("sqlite:///calls.db", "sqlite:///{root}/calls.db"),
        ("sqlite:////var/lib/calls.db", "sqlite:////var/lib/calls.db"),
        ("sqlite:///../x/./calls.db", "sqlite:///{home}/x/calls.db"),
        ("postgresql://u:p@db.example/x", "postgresql://u:p@db.example/x"),
    ],
)
def test_stores(project: Project, text: str, expected: str) -> None:
    """Each kind of store is taken; the path of a file begins at the project."""
    project.write(f"store: {text}")
    home = project.root.parent
    assert project.load().store == expected.format(root=project.root, home=home)


@pytest.mark.parametrize("word", ["on", "off", "true", "false", "'on'", "'off'"])
def test_switches(project: Project, word: str) -> None:
    """on and off, true and false mean the same whether YAML takes them for words or not."""
    project.write(f"features: {{results: {word}}}")
    assert project.load().features.results is (word.strip("'") in ("on", "true"))
    assert project.load().features.definitions is True


def test_a_policy_is_a_file_or_its_text(project: Project) -> None:
    """Text with the semicolon that ends every Cedar policy is the policy itself."""
    cedar = 'permit (principal, action, resource) when { context.tier == "core" };'
    assert project.load(policy=cedar).policy == cedar
    assert project.load(policy="p.cedar").policy == project.root / "p.cedar"
    assert project.load(policy=Path("/etc/p.cedar")).policy == Path("/etc/p.cedar")
    project.write(f"policy: |\n  {cedar}\n")
    assert project.load().policy == f"{cedar}\n"


def test_what_nobody_enforces_is_accepted_aloud(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    """The ugly key does what it says, and the log says so every time."""
    project.write(f"{UNENFORCED}: [net_read]")
    assert UNENFORCED == "capabilities_accepted_although_nobody_enforces_them"
    with caplog.at_level(logging.WARNING):
        assert project.load().unenforced_accepted == {CapabilityKind.NET_READ}
        assert project.load().unenforced_accepted == {"net_read"}
    assert [record.args for record in caplog.records] == [("net_read",), ("net_read",)]


# --- environment and arguments ----------------------------------------------------------------

VALUES: dict[str, tuple[str, Callable[[Settings], Any], Any]] = {
    "TOOLSTILE_TENANT": ("acme", lambda s: s.tenant, "acme"),
    "TOOLSTILE_STORE": ("memory:", lambda s: s.store, "memory:"),
    "TOOLSTILE_POLICY": ("/p.cedar", lambda s: s.policy, Path("/p.cedar")),
    "TOOLSTILE_LICENCE_ISSUER_KEY": ("abc", lambda s: s.licence.issuer_key, "abc"),
    "TOOLSTILE_LICENCE_TOKEN": ("file:/t", lambda s: s.licence.token, "file:/t"),
    "TOOLSTILE_LIMITS_CALLS_PER_MINUTE": ("7", lambda s: s.limits.calls_per_minute, 7),
    "TOOLSTILE_LIMITS_CONCURRENT": ("7", lambda s: s.limits.concurrent, 7),
    "TOOLSTILE_LIMITS_QUEUED": ("7", lambda s: s.limits.queued, 7),
    "TOOLSTILE_RETENTION_DAYS": ("7", lambda s: s.retention.days, 7),
    "TOOLSTILE_SECRETS_FROM": ("env", lambda s: s.secrets.source, "env"),
    "TOOLSTILE_FEATURES_DEFINITIONS": ("off", lambda s: s.features.definitions, False),
    "TOOLSTILE_FEATURES_RESULTS": ("false", lambda s: s.features.results, False),
}


@pytest.mark.parametrize("text", ["licence: {issuer_key: k}", EXAMPLE])
@pytest.mark.parametrize("name", VALUES)
def test_a_variable_overrides_the_file(project: Project, name: str, text: str) -> None:
    """Each single value can be set in the environment, and is known to have come from there."""
    project.write(text)
    value, read, expected = VALUES[name]
    project.environ[name] = value
    found = project.load()
    assert read(found) == expected
    place = next(path for path, origin in found.origins.items() if origin == f"environment {name}")
    assert found.origin(place) == f"environment {name}"
    assert found.warnings == ()


def test_every_variable_is_tried() -> None:
    """The table above has all of them."""
    assert set(VALUES) == set(VARIABLES)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOOLSTILE_TENANT", ""),
        ("TOOLSTILE_POLICY", ""),
        ("TOOLSTILE_STORE", "hunter2"),
        ("TOOLSTILE_LIMITS_CONCURRENT", "0x40"),
        ("TOOLSTILE_LIMITS_CONCURRENT", "٦٤"),
        ("TOOLSTILE_LIMITS_CONCURRENT", "1" * 5_000),
        ("TOOLSTILE_RETENTION_DAYS", "-1"),
        ("TOOLSTILE_FEATURES_RESULTS", "1"),
        ("TOOLSTILE_TENANT", "\udcff"),
    ],
)
def test_a_wrong_variable_is_refused(project: Project, name: str, value: str) -> None:
    """A variable is held to what the file is held to; its value is not shown."""
    project.environ[name] = value
    ((_, _, message),) = project.faults()
    assert message.startswith(f"environment {name}: ")
    assert not value or value not in message


def test_a_variable_does_not_hide_what_is_wrong_with_the_file(project: Project) -> None:
    """Where a section is no mapping, setting a member of it mends nothing."""
    project.write("limits: 5")
    project.environ["TOOLSTILE_LIMITS_CONCURRENT"] = "7"
    assert [path for path, _, _ in project.faults()] == ["/limits"]


def test_an_unknown_variable_is_warned_of(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    """A misspelt variable stops nothing, since others may use the prefix, but it is not silent."""
    project.environ |= {"TOOLSTILE_STOER": "hunter2", "TOOLSTYLE": "x", "TOOLSTILE": "x"}
    found = project.load()
    (warning,) = found.warnings
    assert "TOOLSTILE_STOER" in warning.message
    assert warning.hint == "did you mean TOOLSTILE_STORE?"
    assert "TOOLSTILE_STOER" in caplog.text
    assert "hunter2" not in caplog.text


def test_arguments_override_everything(project: Project) -> None:
    """An argument replaces the whole of its key, whoever had set it."""
    project.write("tenant: file\nlimits: {concurrent: 5, queued: 6}\n")
    project.environ["TOOLSTILE_LIMITS_CONCURRENT"] = "7"
    project.environ["TOOLSTILE_TENANT"] = "variable"
    found = project.load(tenant="argument", limits={"concurrent": 9}, store=None)
    assert (found.tenant, found.limits.concurrent, found.limits.queued) == ("argument", 9, 10_000)
    assert found.origin("/tenant") == found.origin("/limits/concurrent") == "argument"
    assert found.origin("/limits/queued") == "default"


def test_a_mapping_is_as_good_as_a_file(project: Project) -> None:
    """Programs hand over what a file would say; paths begin where the program was started."""
    found = project.load({"grants": {"fs_read": (Path("docs"), "./more")}, "tenant": "acme"})
    scope = [f"{project.root}/docs", f"{project.root}/more"]
    assert found.grants == (granted("fs_read", scope),)
    assert (found.tenant, found.origin("/tenant")) == ("acme", "argument")
    project.write("tenant: file")
    assert project.load({}).tenant == "local"  # a mapping is the source: no file is looked for


def test_a_mapping_is_read_as_strictly(project: Project) -> None:
    """What no file could hold is a fault, not a crash; and so is a mapping without end."""
    source: dict[Any, Any] = {"tenant": object(), "policy": b"x", 5: 6, "tools": {"custom": {1}}}
    assert {path for path, _, _ in project.faults(source)} >= {"/tenant", "/policy", "/5"}
    endless: dict[str, Any] = {}
    endless["tools"] = endless
    assert project.faults(endless)[0][:2] == ("", "file")
    assert project.faults({"tools": {"custom": [float("nan")]}, "tenat": 1})


def test_a_mapping_is_not_changed(project: Project) -> None:
    """What a program hands over stays as it is, and settings do not change with it later."""
    source: dict[str, Any] = {"tools": {"custom": [{"name": "a"}]}, "limits": {}}
    project.environ["TOOLSTILE_LIMITS_CONCURRENT"] = "7"
    project.environ["TOOLSTILE_TENANT"] = "variable"
    found = project.load(source)
    assert source == {"tools": {"custom": [{"name": "a"}]}, "limits": {}}
    source["tools"]["custom"][0]["name"] = "b"
    assert found.tools.custom[0]["name"] == "a"


# --- where values came from -------------------------------------------------------------------


def test_every_value_knows_its_origin(project: Project) -> None:
    """`doctor` can say of each value, however deep, which line, variable or argument set it."""
    project.write("tenant: acme\ntools:\n  custom:\n    - name: a\n      metadata: {risk: low}\n")
    project.environ["TOOLSTILE_STORE"] = "memory:"
    found = project.load(permissions=["tool.system"])
    assert {
        pointer: found.origin(pointer)
        for pointer in (
            "/tenant",
            "/store",
            "/permissions/0",
            "/policy",
            "/limits/queued",
            "/tools/disabled",
            "/tools/custom/0/name",
            "/tools/custom/0/metadata/risk",
        )
    } == {
        "/tenant": "file .agent/config.yml:1",
        "/store": "environment TOOLSTILE_STORE",
        "/permissions/0": "argument",
        "/policy": "default",
        "/limits/queued": "default",
        "/tools/disabled": "default",
        "/tools/custom/0/name": "file .agent/config.yml:4",
        "/tools/custom/0/metadata/risk": "file .agent/config.yml:5",
    }
    assert set(found.origins) >= {f"/{key}" for key in (*READERS, *RIGHTS)}


# --- what cannot be granted (soundness S23) ---------------------------------------------------

# A path of the project (or from the root) to grant; None = fine, else why not.
REACHES: dict[str, str | None] = {
    ".": None,
    "workspace": None,
    "..": None,  # the home directory, without the state in it; .agent is masked
    ".agents": None,
    ".agent": "lies in the directory .agent",
    "./.agent/../.agent/": "lies in the directory .agent",
    ".agent/tools": "lies in the directory .agent",
    "link-to-agent": "lies in the directory .agent",
    "link-to-agent/tools": "lies in the directory .agent",
    "{state}": "contains the directory where this program keeps",
    "{state}/toolstile": "lies in the directory where this program keeps",
    "{state}/toolstile/other": "lies in the directory where this program keeps",
    "{state}/../state/toolstile/": "lies in the directory where this program keeps",
    "{state}/toolstile2": None,
    "link-to-state": "contains the directory where this program keeps",
    "../..": "contains the directory where this program keeps",
}


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("path", REACHES)
def test_a_grant_that_reaches_our_own_files_is_refused(
    project: Project, path: str, made: bool
) -> None:
    """Neither .agent nor the state can be granted, by whatever name, whether they exist or not;
    what merely holds .agent can, since .agent is masked."""
    state = Path(project.environ["XDG_STATE_HOME"])
    if made:
        state_directory(project.root, project.environ).mkdir(parents=True)
    project.write("")
    (project.root / "link-to-agent").symlink_to(".agent")
    (project.root / "link-to-state").symlink_to(state)
    reason = REACHES[path]
    text = path.format(state=state)
    for kind in ("fs_read", "fs_write"):
        source: list[Mapping[str, Any]] = [{kind: ["workspace", text]}, {kind: [text]}]
        if reason is None:
            assert project.load(grants=source[1]).grants
            continue
        ((place, code, message),) = project.faults(grants=source[0])
        assert (place, code) == (f"/grants/{kind}/1", "guarded")
        assert reason in message
        ((place, code, _),) = project.faults(agents={"me": {"grants": source[1]}})
        assert (place, code) == (f"/agents/me/grants/{kind}/0", "guarded")


def test_any_file_at_all_cannot_be_granted(project: Project) -> None:
    """The word for everything would include the state; for hosts and programs it may be used."""
    ((place, code, _),) = project.faults(grants={"fs_read": ["any"]})
    assert (place, code) == ("/grants/fs_read/0", "guarded")
    found = project.load(grants={"net_read": ["any"], "process_spawn": ["any"]})
    assert all(grant.everything for grant in found.grants)


def test_a_link_as_agent_directory_is_followed(project: Project) -> None:
    """Where .agent is a link, neither the link nor what it leads to can be granted."""
    kept = project.root / "kept"
    kept.mkdir()
    (project.root / ".agent").symlink_to("kept")
    project.write("tenant: acme")
    assert project.load().tenant == "acme"
    assert project.load().project == project.root
    for path in (".agent", "kept", "kept/a"):
        assert project.faults(grants={"fs_read": [path]})[0][1] == "guarded"
    assert project.load(grants={"fs_read": ["."]}).grants


OWN_FILES = {
    "policy": "policy: data/p.cedar",
    "database": "store: sqlite:///data/calls.db",
    "licence": "licence: {issuer_key: k, token: 'file:data/l.jws'}",
}


@pytest.mark.parametrize("name", OWN_FILES)
def test_our_own_files_elsewhere_are_guarded_too(project: Project, name: str) -> None:
    """A policy, database or licence outside .agent is not to be had with the folder it is in."""
    project.write(f"{OWN_FILES[name]}\ngrants: {{fs_write: [data]}}")
    ((place, code, message),) = project.faults()
    assert (place, code) == ("/grants/fs_write/0", "guarded")
    assert name in message
    for beside in ("staging", "leases") if name == "database" else ():
        grants = f"{{fs_read: [data/calls.db.{beside}/x]}}"
        project.write(f"{OWN_FILES[name]}\ngrants: {grants}")
        ((_, code, _),) = project.faults()
        assert code == "guarded"
    project.write(f"{OWN_FILES[name].replace('data/', '.agent/')}\ngrants: {{fs_write: [data, .]}}")
    assert project.load().grants


def test_a_configuration_elsewhere_is_guarded_too(project: Project) -> None:
    """Nor can a tool rewrite a configuration file that lies beside what it may write."""
    file = project.root / "toolstile.yml"
    file.write_text("grants: {fs_write: [.]}", encoding="utf-8")
    assert project.faults(file)[0][1] == "guarded"
    file.write_text("grants: {fs_write: [data]}", encoding="utf-8")
    assert project.load(file).grants


def test_places_are_compared_by_what_they_are(tmp_path: Path) -> None:
    """Where two names lead to one place and no link tells (a bind mount, letter case), the file
    system does. Python follows no `/proc/self/root` here: that path is another name for `/`."""
    root = Path(os.path.realpath(tmp_path))
    (root / "agent" / "inner").mkdir(parents=True)
    other = f"/proc/self/root{root}/agent"
    if not Path(other).is_dir():
        pytest.skip("no /proc here")
    assert lies_in(other, f"{root}/agent")
    assert lies_in(f"{other}/inner", f"{root}/agent")
    assert not lies_in(f"{root}/agent", f"{other}/inner")
    assert not lies_in(f"{root}/agents", f"{root}/agent")


def test_grants_are_places_not_names(project: Project) -> None:
    """A link is followed when settings are loaded, so a grant does not move with it later."""
    (project.root / "v1").mkdir()
    (project.root / "current").symlink_to("v1")
    program = project.root / "run"
    program.symlink_to("/bin/sh")
    grants = {"fs_read": ["current"], "process_spawn": ["./run", "git"]}
    found = project.load(grants=grants)
    assert found.grants == (
        granted("fs_read", [f"{project.root}/v1"]),
        granted("process_spawn", [os.path.realpath("/bin/sh"), "git"]),
    )


def test_a_granted_nothing_is_nothing(project: Project) -> None:
    """An empty list gives no right of its kind, and none that would go with it."""
    assert project.load(grants={"fs_read": [], "net_read": []}).grants == ()
    assert project.load(agents={"me": {"grants": {"fs_read": []}}}).agents["me"].grants == ()
    assert project.load(agents={"me": {}}).agents["me"].grants is None


# --- the state directory ----------------------------------------------------------------------


def test_each_project_has_a_state_directory_of_its_own(project: Project, tmp_path: Path) -> None:
    """It lies in $XDG_STATE_HOME, carries the project's name, and is not made by looking."""
    found = project.load().state
    assert found.parent == Path(project.environ["XDG_STATE_HOME"]) / "toolstile"
    assert found.name.startswith("project-")
    assert not found.exists()
    same_name = tmp_path / "other" / "project"
    same_name.mkdir(parents=True)
    assert load_settings({}, environ=project.environ, start=same_name).state != found


@pytest.mark.parametrize("name", ["a\nb", "x" * 250, "\udcff", "ü ö", "-rf", "..."])
def test_strange_project_names_give_plain_state_names(project: Project, name: str) -> None:
    """Whatever a project is called, its state directory can be made and typed."""
    folder = project.root / name
    folder.mkdir()
    found = load_settings({}, environ=project.environ, start=folder).state
    assert found.name.isascii()
    assert found.name.isprintable()
    assert make_private(found) == found


def test_a_relative_state_home_is_ignored(project: Project) -> None:
    """The XDG specification calls a relative path invalid; then the default holds."""
    expected = Path(project.environ["HOME"]) / ".local" / "state" / "toolstile"
    for value in ("state", "", "./x"):
        project.environ["XDG_STATE_HOME"] = value
        assert project.load().state.parent == expected
    del project.environ["XDG_STATE_HOME"]
    assert project.load().state.parent == expected
    # And then a grant of the home directory would hold the state.
    assert project.faults(grants={"fs_read": [".."]})[0][1] == "guarded"


def test_without_an_environment_there_is_a_place(project: Project) -> None:
    """A service may have no variables at all; its state still has a place of its own."""
    found = load_settings({}, environ={}, start=project.root).state
    assert found.is_absolute()
    assert found.parent.name == "toolstile"


def test_a_working_directory_that_is_gone_is_said(tmp_path: Path) -> None:
    """Started where nothing is any more, the program says so and does not guess."""
    program = (
        "import os\nfrom toolstile.errors import SettingsError\n"
        "from toolstile.settings import load_settings\nos.rmdir(os.getcwd())\n"
        "try:\n    load_settings()\nexcept SettingsError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-I", "-c", program]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert b"working directory" in run.stdout


def test_the_place_of_private_places_is_private(tmp_path: Path) -> None:
    """Whatever the umask: who could write there could put another in the place of a project's."""
    before = os.umask(0)
    try:
        made = make_private(tmp_path / "toolstile" / "project")
    finally:
        os.umask(before)
    assert [each.stat().st_mode & 0o777 for each in (made.parent, made)] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_private_place_is_not_made_where_others_may_write(tmp_path: Path, mode: int) -> None:
    """They could put theirs in its place; where only owners may rename, as in /tmp, they cannot."""
    (tmp_path / "given").mkdir()
    (tmp_path / "given").chmod(mode)
    with pytest.raises(SettingsError, match="in the place of one that lies here"):
        make_private(tmp_path / "given" / "project")
    (tmp_path / "given").chmod(mode | 0o1000)
    assert make_private(tmp_path / "given" / "project").stat().st_mode & 0o777 == 0o700


def test_an_argument_is_not_blamed_on_the_file(project: Project) -> None:
    """A grant that a program gives, and that holds the state, is called an argument; the message
    names the place and how to move it. What the file says is the file's."""
    project.write("{}")
    state = project.environ["XDG_STATE_HOME"]
    with pytest.raises(SettingsError) as refused:
        project.load(grants={"fs_read": [state]})
    assert str(refused.value).startswith("Settings in the arguments are refused:")
    assert "argument: this cannot be granted" in str(refused.value)
    assert f"{state}/toolstile" in str(refused.value)
    assert "XDG_STATE_HOME" in str(refused.value)
    project.environ["TOOLSTILE_STORE"] = "nothing"
    with pytest.raises(SettingsError, match="Settings in the environment are refused"):
        project.load()
    del project.environ["TOOLSTILE_STORE"]
    project.write(f"grants: {{fs_read: ['{state}']}}")
    with pytest.raises(SettingsError, match=r"Settings in \.agent/config\.yml are refused"):
        project.load()


def test_a_private_directory_is_private(tmp_path: Path) -> None:
    """It is made for this user alone, and one that others may read is closed to them."""
    made = make_private(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o777 == 0o700
    made.chmod(0o755)
    assert make_private(made).stat().st_mode & 0o777 == 0o700


def test_a_directory_that_others_could_write_to_is_refused(tmp_path: Path) -> None:
    """Somebody may have put a database there; nothing in it can be trusted, so it is not used."""
    for mode in (0o720, 0o702, 0o777):
        made = tmp_path / oct(mode)
        made.mkdir()
        made.chmod(mode)
        with pytest.raises(SettingsError, match="others can write"):
            make_private(made)


def test_what_is_no_directory_of_ours_is_refused(tmp_path: Path) -> None:
    """A file, a link, or a folder of somebody else is not taken for the state directory."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    for name in ("file", "link", "file/below"):
        with pytest.raises(SettingsError):
            make_private(tmp_path / name)
    if os.geteuid() == 0:
        os.chown(tmp_path / "real", 65_533, 65_533)
        with pytest.raises(SettingsError, match="not a directory of this user"):
            make_private(tmp_path / "real")


# --- there and back ---------------------------------------------------------------------------

name = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
visible = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8)
names = st.lists(name, max_size=3, unique=True)
folder = st.from_regex(r"[a-zA-Z0-9 ._-]{1,8}", fullmatch=True).map(lambda each: f"w/{each}")
scopes = {
    "fs_read": folder,
    "fs_write": folder,
    "net_read": st.sampled_from(["a.example", "*.b.example:8443", "any", "[2001:db8::1]"]),
    "process_spawn": st.sampled_from(["git", "/opt/x/y", "./tool"]),
    "secret": name,
}
grants = st.fixed_dictionaries(
    {},
    optional={kind: st.lists(each, max_size=2, unique=True) for kind, each in scopes.items()},
).filter(lambda each: "any" not in each.get("net_read", ()) or len(each["net_read"]) == 1)
permissions = st.lists(
    st.sampled_from(["tool.*", "tool.system", "tool.filesystem.read"]), unique=True
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.text(max_size=6)
    # Texts that YAML 1.1 or 1.2 takes for something else when they stand unquoted.
    | st.sampled_from(["on", "no", "~", "1e3", "0o7", "1:30", "2001-01-01", "<<", "=", "\u2028"])
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "tenant": visible,
        "store": st.sampled_from(
            ["sqlite", "memory:", "sqlite:///.agent/x.db", "postgresql://d/x"]
        ),
        "grants": grants,
        "permissions": permissions,
        "agents": st.dictionaries(
            visible,
            st.fixed_dictionaries(
                {}, optional={"tools": names, "grants": grants, "permissions": permissions}
            ),
            max_size=2,
        ),
        "policy": st.sampled_from([".agent/p.cedar", "permit (principal, action, resource);"]),
        "tools": st.fixed_dictionaries(
            {},
            optional={
                "custom": st.lists(json_values, max_size=2),
                "disabled": names,
                "providers": names,
                "extensions": names,
                "pins": st.dictionaries(name, st.sampled_from(["^1", "1.2.3", ">=1,<2"])),
            },
        ),
        "mcp_servers": st.dictionaries(
            name,
            st.fixed_dictionaries(
                {"command": name},
                optional={
                    "args": st.lists(st.text(max_size=3)),
                    "env": st.dictionaries(name, visible, max_size=2),
                    "isolation": st.sampled_from(["standard", "strict", "restricted"]),
                    "pin": st.booleans(),
                },
            )
            | st.just({"url": "https://a.example/mcp"}),
            max_size=2,
        ),
        "licence": st.fixed_dictionaries(
            {"issuer_key": name}, optional={"token": st.sampled_from(["abc", "file:.agent/t"])}
        ),
        "limits": st.fixed_dictionaries(
            {}, optional={"calls_per_minute": st.integers(1, 99), "queued": st.integers(0, 99)}
        ),
        "retention": st.fixed_dictionaries({}, optional={"days": st.integers(0, 99)}),
        "features": st.fixed_dictionaries(
            {}, optional={"results": st.booleans() | st.sampled_from(["on", "off"])}
        ),
        UNENFORCED: st.lists(st.sampled_from(list(CapabilityKind)), unique=True),
    },
)


@given(documents)
def test_settings_survive_being_written_down(document: dict[str, Any]) -> None:
    """What is loaded, written out and loaded again is the same, by mapping and by YAML."""
    environ = {"HOME": "/nonexistent/home", "XDG_STATE_HOME": "/nonexistent/state"}
    start = Path("/nonexistent/home/project")

    def load(source: Mapping[str, Any]) -> Settings:
        loaded = load_settings(source, environ=environ, start=start)
        return msgspec.structs.replace(loaded, origins={})

    settings = load(document)
    written = settings.to_dict()
    assert load(written) == settings
    assert load(written).to_dict() == written
    read, _ = parse_yaml(write_yaml(written), "config.yml")
    assert read == written


def test_settings_cannot_be_changed(project: Project) -> None:
    """Neither a field nor what it holds: a change would make grants of what was not granted."""
    project.write(EXAMPLE)
    found = project.load()
    with pytest.raises(AttributeError):
        found.grants = ()  # type: ignore[misc]
    for held in (found.agents, found.mcp_servers, found.origins, found.tools.pins):
        with pytest.raises(TypeError):
            held["x"] = None  # type: ignore[index]
    with pytest.raises(TypeError):
        found.tools.custom[0]["name"] = "other"  # type: ignore[index]
    assert all(isinstance(grant, Capability) for grant in found.grants)


# --- reading again ----------------------------------------------------------------------------


def test_the_last_good_settings_stay_in_force(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that breaks or goes away changes nothing; the reasons are there, until it is good."""
    project.write("tenant: first")
    file = SettingsFile(project.config, environ=project.environ)
    assert (file.settings.tenant, file.issues) == ("first", ())
    for broken in ("tenat: second", "tenant: [", "- x"):
        project.write(broken)
        assert file.reload().tenant == "first"
        assert file.issues
    project.config.unlink()
    assert file.reload().tenant == file.settings.tenant == "first"
    assert file.issues
    assert "last good settings" in caplog.text
    project.write("tenant: second")
    assert file.reload().tenant == "second"
    assert file.issues == ()


def test_there_must_be_something_to_keep(project: Project) -> None:
    """A file that is wrong from the beginning is an error, not a silent default."""
    project.write("tenat: first")
    with pytest.raises(SettingsError):
        SettingsFile(project.config, environ=project.environ)


def test_importing_settings_loads_no_yaml() -> None:
    """A program that hands over a mapping does not pay for a YAML parser."""
    program = (
        "import sys\nfrom toolstile.settings import load_settings\n"
        "load_settings({'tenant': 'a'}, environ={})\nprint('yaml' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True)
    assert run.stdout == b"False\n"
