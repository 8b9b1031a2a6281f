"""The output as the tool's function returns it, where that can be told from its signature."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import msgspec


def typed_value(function: Callable[..., Any] | None, output: Any) -> Any:
    """The JSON output in the function's return type; as it is where there is none that fits."""
    try:
        hints = typing.get_type_hints(function) if function is not None else {}
        return msgspec.convert(output, hints["return"], strict=True)
    # Types that cannot be found or converted are no fault of the call: JSON is what it gave.
    except (KeyError, NameError, TypeError, ValueError, AttributeError):
        return output
