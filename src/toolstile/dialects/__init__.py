"""Tools in the words of model providers, what is lost on the way, and arguments back from them."""

from __future__ import annotations

from toolstile.dialects.account import Loss, Rewrite
from toolstile.dialects.export import Export, Exported, dialect_of, export, export_all
from toolstile.dialects.tables import DIALECTS

__all__ = [
    "DIALECTS",
    "Export",
    "Exported",
    "Loss",
    "Rewrite",
    "dialect_of",
    "export",
    "export_all",
]
