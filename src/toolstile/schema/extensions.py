"""Formats and keywords beyond the standard (LEX-DEF section 3.2, "Full + Custom")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec


class Extensions(msgspec.Struct, frozen=True, eq=False):
    """Formats and keywords of the entry-point groups toolstile.formats and toolstile.keywords.

    A format takes a string and says whether it fits. A keyword takes its value in the schema and
    the instance, and says whether they fit. Both must be pure and total: what one of them raises
    counts as "does not fit". One set of them is equal to itself alone, so that schemas compiled
    with it can be kept.
    """

    formats: dict[str, Callable[[str], bool]] = msgspec.field(default_factory=dict)
    keywords: dict[str, Callable[[Any, Any], bool]] = msgspec.field(default_factory=dict)


NO_EXTENSIONS = Extensions()
