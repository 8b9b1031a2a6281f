"""Formats where the engine is laxer than their RFCs: ours are asked instead.

The engine (0.60.3) reads `*+,-./` as digits in dates and times, so `2024-01-1*` passed for a date;
found by the differential test. RFC 3339, section 5.6, in its profile for JSON Schema.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_MINUTES = 24 * 60


def is_date(text: str) -> bool:
    """A full-date that is in the calendar. The year 0000 is one, as in the RFC."""
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    # The Gregorian calendar repeats every 400 years, and `calendar` begins with the year 1.
    return 1 <= month <= 12 and 1 <= day <= monthrange(year % 400 + 400, month)[1]


def is_time(text: str) -> bool:
    """A full-time with its offset. A leap second only at the end of a day in UTC."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(found[i]) for i in (1, 2, 3))
    offset = 0
    if found[4]:
        if int(found[5]) > 23 or int(found[6]) > 59:
            return False
        offset = (int(found[5]) * 60 + int(found[6])) * (-1 if found[4] == "-" else 1)
    if hour > 23 or minute > 59 or second > 60:
        return False
    return second < 60 or (hour * 60 + minute - offset) % _MINUTES == _MINUTES - 1


def is_date_time(text: str) -> bool:
    """A date, the letter T, a time."""
    return len(text) > 11 and text[10] in "Tt" and is_date(text[:10]) and is_time(text[11:])


STRICTER: Mapping[str, Callable[[str], bool]] = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
}
