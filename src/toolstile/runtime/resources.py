"""Step 5: which files, hosts and programs do the arguments name?

Arguments that name resources are marked in the schema. Each is resolved here, once; only the
resolved value is decided on, shown to a person, and handed to the tool (law 6).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolstile.model import hosts, paths
from toolstile.model.capability import MARKS
from toolstile.model.decision import Decision, NamedResource
from toolstile.model.definition import ToolDefinition
from toolstile.model.effect import Manifest
from toolstile.model.issue import pointer
from toolstile.model.vocabulary import SideEffect, Status
from toolstile.runtime.ended import Ended

FACT = "fact"  # the mark of an argument that names no resource, and that policies may read
_KINDS = {w: m.kinds[0].value for w, m in MARKS.items() if len(m.kinds) == 1} | {FACT: FACT}


def name_resources(
    definition: ToolDefinition,
    arguments: Mapping[str, Any],
    base: str,
    masked: tuple[str, ...] = (),
) -> tuple[NamedResource, ...]:
    """The resources of a call, relative paths taken from `base`. A path inside a `masked` place is
    given under that place's own name, even if another name leads to it.

    Raises:
        Ended: PERMISSION_DENIED where an argument cannot name such a resource at all.
    """
    connecting = _connecting(definition)
    found: list[NamedResource] = []
    for path, mark, value in _marked(definition.parameters, arguments, ""):
        for access, what in mark.items():
            if access == FACT or value is None:
                continue
            kind = _KINDS.get(access, connecting)
            resolved = _unmasking(_resolve(path, access, what, value, base), masked)
            found.append(NamedResource(access=access, value=resolved, argument=path, kind=kind))
    return tuple(found)


def _unmasking(value: str, masked: tuple[str, ...]) -> str:
    """A path with the name of the masked place that it lies in, by what the file system says is the
    same: a volume may ignore letter case, or be mounted twice."""
    if not value.startswith("/"):
        return value
    for above in (value, *paths.ancestors(value)):
        for place in masked:
            if _is_same(above, place):
                return place + value[len(above) :]
    return value


def _is_same(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:  # what is not there is known by its name alone
        return False


def beyond(decision: Decision, manifest: Manifest) -> list[str]:
    """The paths that a run staged although its call did not name them to be written, or that lead
    elsewhere by now. The list comes from the child, so it is compared and not believed."""
    named = {each.value for each in decision.resources if each.access == "writes"}
    return [c.path for c in manifest.changes if c.path not in named or not _is_real(c.path)]


def _is_real(path: str) -> bool:
    try:
        return os.path.realpath(path) == path
    except ValueError:  # no path at all: a NUL, or characters that no path may hold
        return False


def coarse(definition: ToolDefinition) -> tuple[str, ...]:
    """The declared rights that no argument can narrow down: the tool gets its whole grant."""
    narrowed = _narrowed(definition)
    return tuple(kind for kind in _declared(definition) if kind not in narrowed)


def unused(definition: ToolDefinition, resources: tuple[NamedResource, ...]) -> tuple[str, ...]:
    """The declared rights that this call does not take: an argument could name what they are for,
    and is left out. The tool gets no handle then."""
    narrowed = _narrowed(definition) - {resource.kind for resource in resources}
    return tuple(kind for kind in _declared(definition) if kind in narrowed)


def _declared(definition: ToolDefinition) -> tuple[str, ...]:
    return tuple(capability.kind.value for capability in definition.required_capabilities)


def _narrowed(definition: ToolDefinition) -> frozenset[str]:
    """The kinds of rights that some argument names the objects of."""
    connecting = _connecting(definition)
    marks = _marks(definition.parameters)
    return frozenset(_KINDS.get(access, connecting) for mark in marks for access in mark) - {FACT}


def _connecting(definition: ToolDefinition) -> str:
    return "net_write" if SideEffect.NET_WRITE in definition.effects else "net_read"


def _marks(schema: Any) -> Iterator[Mapping[str, str]]:
    """Every mark of a schema, wherever `_marked` would look for its values."""
    if not isinstance(schema, dict):
        return
    if "x-toolstile" in schema:
        yield schema["x-toolstile"]
    below = (schema.get("additionalProperties"), schema.get("items"))
    for each in (*schema.get("properties", {}).values(), *schema.get("prefixItems", ()), *below):
        yield from _marks(each)


def _marked(schema: Any, value: Any, path: str) -> Iterator[tuple[str, Mapping[str, str], Any]]:
    """Marked values and their pointers. The lint lets marks stand only where this looks."""
    if not isinstance(schema, dict):
        return
    if "x-toolstile" in schema:
        yield path, schema["x-toolstile"], value
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties")
        for name, member in value.items():
            yield from _marked(properties.get(name, others), member, path + pointer(name))
    elif isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            below = prefix[index] if index < len(prefix) else schema.get("items")
            yield from _marked(below, item, f"{path}/{index}")


def _resolve(path: str, access: str, what: str, value: str, base: str) -> str:
    try:
        if what == "path":
            # Links are followed here, so that the decision is about the file and not its name.
            return paths.normalise(os.path.realpath(paths.join(base, value)))
        if what == "url":
            return hosts.host_of_url(value)
        if what == "host":
            return hosts.endpoint(value)
        return paths.normalise(os.path.realpath(shutil.which(value) or paths.join(base, value)))
    except (paths.PathError, hosts.HostError) as error:
        message = f"argument {path} names no {what} that could be granted: {error}"
        raise Ended(Status.PERMISSION_DENIED, "PERMISSION_DENIED", message) from error
