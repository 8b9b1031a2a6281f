"""The arguments and schemas that the benchmarks share: small, medium, large."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pydantic
from pydantic import ConfigDict, Field

SMALL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "maxLength": 4096},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
        "recursive": {"type": "boolean"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
SMALL_VALUE = {"path": "/srv/data/report.txt", "limit": 50, "recursive": True}

_ASSIGNEE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "email": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"},
        "name": {"type": "string"},
    },
    "required": ["id", "email"],
    "additionalProperties": False,
}
_FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "field": {"type": "string"},
        "op": {"enum": ["eq", "ne", "lt", "gt", "in"]},
        "value": {"type": ["string", "number", "boolean", "array"], "items": True},
    },
    "required": ["field", "op", "value"],
    "additionalProperties": False,
}
_ATTACHMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "minimum": 0},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
    "required": ["name", "size", "sha256"],
    "additionalProperties": False,
}
_WATCHER: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "role": {"enum": ["viewer", "editor", "owner"]}},
    "required": ["id", "role"],
    "additionalProperties": False,
}
MEDIUM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ticket_id": {"type": "string", "pattern": "^[A-Z]{2,8}-[0-9]{1,7}$"},
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "body": {"type": "string", "maxLength": 20000},
        "priority": {"enum": ["low", "normal", "high", "urgent"]},
        "status": {"type": "string", "enum": ["open", "closed", "pending"]},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "count": {"type": "integer", "minimum": 0},
        "notify": {"type": "boolean"},
        "due": {"type": ["string", "null"]},
        "tags": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a-z0-9-]{1,32}$"},
            "maxItems": 20,
            "uniqueItems": True,
        },
        "assignee": _ASSIGNEE,
        "watchers": {"type": "array", "items": {"$ref": "#/$defs/watcher"}, "maxItems": 50},
        "filter": _FILTER,
        "attachments": {"type": "array", "items": _ATTACHMENT},
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "string", "maxLength": 64},
            "maxProperties": 20,
        },
    },
    "required": ["ticket_id", "title", "priority", "assignee"],
    "additionalProperties": False,
    "$defs": {"watcher": _WATCHER},
}
MEDIUM_VALUE = {
    "ticket_id": "OPS-48213",
    "title": "Disk nearly full on db-3",
    "body": "The /var volume reached 91 % at 03:14 UTC. " * 6,
    "priority": "high",
    "status": "open",
    "score": 0.83,
    "count": 7,
    "notify": True,
    "due": None,
    "tags": ["disk", "db-3", "on-call", "prod"],
    "assignee": {"id": 4711, "email": "ada@example.org", "name": "Ada"},
    "watchers": [{"id": n, "role": role} for n, role in enumerate(("viewer", "editor", "owner"))],
    "filter": {"field": "host", "op": "in", "value": ["db-3", "db-4"]},
    "attachments": [
        {"name": "df.txt", "size": 912, "sha256": "ab" * 32},
        {"name": "dmesg.txt", "size": 20211, "sha256": "0f" * 32},
    ],
    "labels": {"team": "storage", "env": "prod"},
}

_ROW: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "name": {"type": "string", "maxLength": 80},
        "price": {"type": "number", "minimum": 0},
        "ok": {"type": "boolean"},
        "kind": {"enum": ["a", "b", "c"]},
    },
    "required": ["id", "name", "price", "ok", "kind"],
    "additionalProperties": False,
}
LARGE: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "maxItems": 10000, "items": _ROW}},
    "required": ["rows"],
    "additionalProperties": False,
}
LARGE_VALUE = {
    "rows": [
        {"id": n, "name": f"item {n}", "price": n * 1.25, "ok": n % 2 == 0, "kind": "abc"[n % 3]}
        for n in range(1000)
    ]
}


class _Strict(pydantic.BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SmallModel(_Strict):
    """SMALL as a pydantic model."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    recursive: bool = False


class AssigneeModel(_Strict):
    """An assignee."""

    id: Annotated[int, Field(ge=1)]
    email: Annotated[str, Field(pattern="^[^@ ]+@[^@ ]+$")]
    name: str = ""


class WatcherModel(_Strict):
    """A watcher."""

    id: int
    role: Literal["viewer", "editor", "owner"]


class FilterModel(_Strict):
    """A filter."""

    field: str
    op: Literal["eq", "ne", "lt", "gt", "in"]
    value: str | float | bool | list[Any]


class AttachmentModel(_Strict):
    """An attachment."""

    name: str
    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class MediumModel(_Strict):
    """MEDIUM as a pydantic model."""

    ticket_id: Annotated[str, Field(pattern="^[A-Z]{2,8}-[0-9]{1,7}$")]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    priority: Literal["low", "normal", "high", "urgent"]
    assignee: AssigneeModel
    body: Annotated[str, Field(max_length=20000)] = ""
    status: Literal["open", "closed", "pending"] = "open"
    score: Annotated[float, Field(ge=0, le=1)] = 0.0
    count: Annotated[int, Field(ge=0)] = 0
    notify: bool = False
    due: str | None = None
    tags: Annotated[
        list[Annotated[str, Field(pattern="^[a-z0-9-]{1,32}$")]], Field(max_length=20)
    ] = []
    watchers: Annotated[list[WatcherModel], Field(max_length=50)] = []
    filter: FilterModel | None = None
    attachments: list[AttachmentModel] = []
    labels: Annotated[dict[str, Annotated[str, Field(max_length=64)]], Field(max_length=20)] = {}


class RowModel(_Strict):
    """A row."""

    id: Annotated[int, Field(ge=0)]
    name: Annotated[str, Field(max_length=80)]
    price: Annotated[float, Field(ge=0)]
    ok: bool
    kind: Literal["a", "b", "c"]


class LargeModel(_Strict):
    """LARGE as a pydantic model."""

    rows: Annotated[list[RowModel], Field(max_length=10000)]


def compact(value: Any) -> bytes:
    """JSON without spaces, as most models and all encoders of ours write it."""
    return json.dumps(value, separators=(",", ":")).encode()


CASES = {
    "small": (SMALL, compact(SMALL_VALUE), SmallModel),
    "medium": (MEDIUM, compact(MEDIUM_VALUE), MediumModel),
    "large": (LARGE, compact(LARGE_VALUE), LargeModel),
}
