"""What arguments and outputs must look like: strict JSON Schema 2020-12, on one engine.

`check_schema` says why a schema is refused, `close` gives the form that is enforced,
`compile_arguments` makes it ready for calls.
"""

from __future__ import annotations

from toolstile.model.json import JsonObject
from toolstile.schema.acceptance import check_schema
from toolstile.schema.closing import Root, close
from toolstile.schema.compiled import Checked, CompiledSchema, compiled


def compile_arguments(schema: JsonObject) -> CompiledSchema:
    """A schema that `check_schema` accepts, closed and compiled."""
    return compiled(close(schema))


__all__ = [
    "Checked",
    "CompiledSchema",
    "Root",
    "check_schema",
    "close",
    "compile_arguments",
    "compiled",
]
