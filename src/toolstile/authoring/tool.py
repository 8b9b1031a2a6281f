"""A tool: what was declared, and the code that does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolstile.model.definition import ToolDefinition
from toolstile.model.json import JsonValue
from toolstile.schema.compiled import Checked, arguments_of


class Tool(msgspec.Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A definition and its body: a function, a class of the class face, or None as yet.

    `file` is the script that the body stands in, where that is no module. `trusted` allows it to
    run in this process, at isolation `none`.
    """

    definition: ToolDefinition
    function: Callable[..., Any] | None = None
    file: str | None = None
    trusted: bool = False

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.definition.name

    def check(self, raw: bytes | str | JsonValue) -> Checked:
        """Do these arguments fit? Raw JSON as a model wrote it, or a mapping. Never raises."""
        return msgspec.structs.replace(arguments_of(self.definition).check(raw), tool=self.name)
