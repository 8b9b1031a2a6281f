"""Where a tool's body comes from: the `source` and `normalize` fields, checked but not loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from toolstile.model.issue import pointer
from toolstile.schema.fields import Faults, choice, strings, unknown_keys

# Fields of each kind of source: what it must have, what it may have (contract section 1).
SOURCES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "wasm": (("path", "sha256"), ("fuel",)),
    "subprocess": (("command",), ("args", "stdin", "output", "env")),
    "http": (("method", "url"), ("query", "headers", "body")),
    "mcp": (("server", "tool"), ()),
    "openapi": (("document", "operation"), ()),
}

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}")
_METHODS = {word: word for word in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")}


def read_source(faults: Faults, value: Any, properties: Mapping[str, Any]) -> Any:
    """`{python: "module:qualname"}` or one of SOURCES; placeholders must name arguments."""
    if value is None:
        return None
    kinds = ("python", *SOURCES)
    if not isinstance(value, dict) or len(value) != 1:
        hint = f"write one of: {', '.join(kinds)}"
        faults.note("/source", "type", "it must be an object with one kind of source", hint)
        return None
    (kind, body), *_ = value.items()
    if kind == "python":
        _reference(faults, "/source/python", body)
    elif kind not in SOURCES:
        unknown_keys(faults, "/source", [kind], kinds)
    elif not isinstance(body, dict):
        faults.note(f"/source/{kind}", "type", "it must be an object", "write {...}")
    else:
        _body(faults, kind, body, properties)
    return value


def read_normalize(faults: Faults, value: Any, default: str) -> Any:
    """json, binary, or a function of the author's: `{python: "module:function"}`."""
    if value is None:
        return default
    if isinstance(value, dict) and set(value) == {"python"}:
        _reference(faults, "/normalize/python", value["python"])
        return value
    return choice(faults, "/normalize", value, {"json": "json", "binary": "binary"}, default)


def _reference(faults: Faults, path: str, value: Any) -> None:
    if not isinstance(value, str) or not _REFERENCE.fullmatch(value):
        faults.note(path, "pattern", "it must be 'module:function'", "like 'my_package.tools:read'")


def _body(faults: Faults, kind: str, body: dict[str, Any], properties: Mapping[str, Any]) -> None:
    needed, possible = SOURCES[kind]
    path = f"/source/{kind}"
    unknown_keys(faults, path, body, (*needed, *possible))
    for field in needed:
        if field not in body:
            faults.note(
                f"{path}/{field}", "required", f"a {kind} source needs it", f"add '{field}'"
            )
    for field, value in body.items():
        check = _CHECKS.get((kind, field))
        if check is not None:
            check(faults, path + pointer(field), value)
    for where, text in _texts(path, body):
        _placeholders(faults, where, text, properties)


def _texts(path: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _texts(path + pointer(key), item)]
    if isinstance(value, list):
        return [found for i, item in enumerate(value) for found in _texts(f"{path}/{i}", item)]
    return []


def _placeholders(faults: Faults, path: str, text: str, properties: Mapping[str, Any]) -> None:
    """A placeholder is a whole argv element or URL segment, never a part of shell text."""
    for name in _PLACEHOLDER.findall(text):
        if name not in properties:
            reason = f"the placeholder names no parameter: '{name[:64]}'"
            faults.note(path, "placeholder", reason, f"one of: {', '.join(properties) or 'none'}")
    if path.startswith("/source/subprocess/args") and "{{" in text:
        whole = _PLACEHOLDER.fullmatch(text)
        if whole is None:
            reason = "a placeholder must be a whole argument"
            faults.note(path, "placeholder", reason, "give the option and the value one item each")
    if path == "/source/subprocess/command" and "{{" in text:
        faults.note(path, "placeholder", "the program may not come from an argument", "name it")


def _sha256(faults: Faults, path: str, value: Any) -> None:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        faults.note(path, "pattern", "it must be 64 hexadecimal digits", "pin the module's SHA-256")


def _words(*words: str) -> Callable[[Faults, str, Any], None]:
    def check(faults: Faults, path: str, value: Any) -> None:
        choice(faults, path, value, {word: word for word in words}, words[0])

    return check


def _method(faults: Faults, path: str, value: Any) -> None:
    choice(faults, path, value, _METHODS, "GET")


def _args(faults: Faults, path: str, value: Any) -> None:
    strings_allowing_repeats(faults, path, value)


def strings_allowing_repeats(faults: Faults, path: str, value: Any) -> None:
    """argv may say the same thing twice; everything else about it is a list of strings."""
    if isinstance(value, list):
        strings(faults, path, list(dict.fromkeys(map(str, value))), 256, 4_096)
        if all(isinstance(item, str) for item in value):
            return
    faults.note(path, "type", "it must be a list of strings", "one item per argument, no shell")


def _url(faults: Faults, path: str, value: Any) -> None:
    if not isinstance(value, str) or not re.match(r"https?://[^/{}\s]+(/|$)", value):
        faults.note(
            path, "format", "it must be an http(s) URL with a fixed host", "https://host/..."
        )


_CHECKS: dict[tuple[str, str], Callable[[Faults, str, Any], None]] = {
    ("wasm", "sha256"): _sha256,
    ("subprocess", "args"): _args,
    ("subprocess", "stdin"): _words("none", "json"),
    ("subprocess", "output"): _words("json", "text", "binary"),
    ("http", "method"): _method,
    ("http", "url"): _url,
}
