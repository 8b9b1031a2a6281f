"""One fact once, in the other direction: what says more than the capabilities do.

That what the capabilities imply is not denied elsewhere is a fault (`defining`). Here they are
written, and something beside them speaks of rights or effects that they do not give: a tool is
never given those, so its author has either forgotten a capability or written a word too many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolstile.model.capability import CAPABILITY_PERMISSION, CapabilityKind
from toolstile.model.definition import ToolDefinition
from toolstile.schema.fields import Faults


def warn_of_excess(faults: Faults, written: Mapping[str, Any], definition: ToolDefinition) -> None:
    """Warn of what is written beside the capabilities, and goes beyond them."""
    if "required_capabilities" in written:
        _warn_beyond_capabilities(faults, written, definition)
    constraints = written.get("constraints")
    constraints = constraints if isinstance(constraints, Mapping) else {}
    effects = definition.side_effects
    writes = effects is None or any(effect.writes for effect in effects)
    if constraints.get("allow_side_effects") is True and not writes:
        reason = "side effects are allowed, and the tool declares none that changes anything"
        hint = "leave allow_side_effects out, or list the effects"
        faults.warn("/constraints/allow_side_effects", "disagrees", reason, hint)


def _warn_beyond_capabilities(
    faults: Faults, written: Mapping[str, Any], definition: ToolDefinition
) -> None:
    kinds = {capability.kind for capability in definition.required_capabilities}
    if written.get("side_effects") is not None:
        effects = {effect.value for effect in definition.side_effects or ()}
        missing = [kind for kind in CapabilityKind if kind.value in effects and kind not in kinds]
        for kind in missing:
            _warn(faults, "/side_effects", kind.value, kind)
    if written.get("required_permissions") is not None:
        for permission in definition.required_permissions:
            giving = [k for k, taken in CAPABILITY_PERMISSION.items() if taken == permission]
            if giving and not kinds & set(giving):
                _warn(faults, "/required_permissions", permission, giving[0])


def _warn(faults: Faults, path: str, said: str, kind: CapabilityKind) -> None:
    reason = f"'{said}' says more than the capabilities that are written"
    hint = f"add {{{kind.value}: []}} to required_capabilities, or leave it out here"
    faults.warn(path, "disagrees", reason, hint)
