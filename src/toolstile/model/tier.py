"""What each licence tier has: one table, asked by name (contract section 5).

An install without a licence issuer is `enterprise` and never hears of tiers.
"""

from __future__ import annotations

import msgspec

from toolstile.model.vocabulary import IsolationLevel, LicenceTier


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """The row of one tier. None means unlimited."""

    built_in: int
    custom: int | None
    vocabulary: str
    isolation: IsolationLevel
    history_days: int | None
    effects_in_history: bool
    full_output: bool


# history_days 0 = in memory, for the session only; None = as configured.
TIERS: dict[LicenceTier, Tier] = {
    LicenceTier.CORE: Tier(
        built_in=5,
        custom=0,
        vocabulary="basic",
        isolation=IsolationLevel.STANDARD,
        history_days=0,
        effects_in_history=False,
        full_output=False,
    ),
    LicenceTier.WRITER_PRO: Tier(
        built_in=5,
        custom=10,
        vocabulary="basic",
        isolation=IsolationLevel.STANDARD,
        history_days=7,
        effects_in_history=True,
        full_output=False,
    ),
    LicenceTier.TEAMS: Tier(
        built_in=8,
        custom=50,
        vocabulary="advanced",
        isolation=IsolationLevel.STRICT,
        history_days=30,
        effects_in_history=True,
        full_output=False,
    ),
    LicenceTier.ENTERPRISE: Tier(
        built_in=8,
        custom=None,
        vocabulary="full",
        isolation=IsolationLevel.RESTRICTED,
        history_days=None,
        effects_in_history=True,
        full_output=True,
    ),
}


def lowest_with_isolation(level: IsolationLevel) -> LicenceTier:
    """The lowest tier whose definitions may request this isolation."""
    return min(tier for tier, row in TIERS.items() if row.isolation >= level)


def lowest_with_vocabulary(vocabulary: str) -> LicenceTier:
    """The lowest tier whose definitions may use this schema vocabulary."""
    order = ("basic", "advanced", "full")
    wanted = order.index(vocabulary)
    return min(tier for tier, row in TIERS.items() if order.index(row.vocabulary) >= wanted)
