"""The formats that are asserted, and those where the engine is laxer than their RFCs.

The engine (0.60.3) reads `*+,-./` as digits in dates and times, so `2024-01-1*` passed for a date;
found by the differential test, so ours are asked instead. RFC 3339, section 5.6, in its profile
for JSON Schema.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping

# Each with texts that have it, the plainest first. Any other format is refused in a schema, because
# one that nobody asserts looks like a check and is none.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "date": ("2024-01-31", "0001-01-01"),
    "time": ("12:00:00Z", "23:59:59.5+01:00"),
    "date-time": ("2024-01-31T12:00:00Z", "1999-12-31T23:59:59.123-05:30"),
    "duration": ("P1D", "P1Y2M3DT4H5M6S", "PT0S"),
    "email": ("name@example.org", "first.last+tag@sub.example.org"),
    "idn-email": ("a@example.org", "é@例え.jp"),
    "hostname": ("example.org", "a"),
    "idn-hostname": ("example.org", "例え.jp"),
    "ipv4": ("192.0.2.1", "255.255.255.255"),
    "ipv6": ("2001:db8::1", "1:2:3:4:5:6:7:8"),
    "uri": ("https://example.org/path?a=b#c", "urn:a:b"),
    "uri-reference": ("https://example.org/a?b#c", "/a", ""),
    "iri": ("https://example.org/é", "urn:a:b"),
    "iri-reference": ("https://example.org/é", "é", ""),
    "uuid": ("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"),
    "uri-template": ("https://example.org/{id}", "{a,b}", "plain"),
    "json-pointer": ("/a/0", "", "/a~1b"),
    "relative-json-pointer": ("0", "1/a", "0#"),
    "regex": ("^[a-z]+$", "", "a{2}"),
}

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
