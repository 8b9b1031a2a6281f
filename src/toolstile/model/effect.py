"""What a call did to the world outside it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

NEW_FILE_MODE = 0o644  # of a file that a run makes without asking for another


class EffectType(StrEnum):
    """Kinds of recorded effects (LEX-RES section 4.4)."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MESSAGE_SENT = "message_sent"
    EXTERNAL_API_CALLED = "external_api_called"
    DATA_EXPORTED = "data_exported"


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A value before or after an effect: digest and size, the text only where it is short."""

    sha256: str
    size: int
    text: str | None = None


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One effect of one call."""

    type: EffectType
    resource: str
    description: str | None = None
    previous_value: Snapshot | None = None
    new_value: Snapshot | None = None
    timestamp: str = ""
    is_reversible: bool = False
    undone: bool = False


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a manifest. None as a digest means "no such file".

    `base_mode` is part of what was found: who makes a file private meanwhile has changed it. It is
    None where there was no file, and where an older version wrote the manifest. `append`: what is
    staged goes to the end of what is there; the two together are `new`.
    """

    path: str
    base: str | None
    base_mode: int | None = None
    new: str | None
    mode: int = NEW_FILE_MODE
    staged: str | None = None
    append: bool = False

    @property
    def type(self) -> EffectType:
        """Created, modified or deleted."""
        if self.base is None:
            return EffectType.CREATED
        return EffectType.DELETED if self.new is None else EffectType.MODIFIED


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All changes of one call to files, sealed: what a person approves, and only that."""

    execution_id: str
    changes: tuple[Change, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON form; its digest is what an approval is bound to."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A path that a commit could not change as it was approved, and why.

    `changed`: it could not be left as it was, either; the reason says where its old content lies.
    """

    path: str
    reason: str
    changed: bool = False
