r"""The judge: python-jsonschema, made exact where it is not, watched while it works.

It is independent of the product (another language, another author) and slow. Four things are
replaced, because here the standard is the law and not a float:

- numbers are decimals, in schema and document, so `0.07` is a multiple of `0.01` and `2**53 + 1`
  is not `2**53`; `1.0` and `1e2` are integers, `true` is none;
- patterns mean what ECMA-262 says: `$` is the very end, classes are ASCII, `.` stops at four
  line terminators, `\s` is Unicode;
- `uniqueItems` compares mathematically and in every position: the original sorts first, and
  does not find the duplicate in `[[1], [true], [1]]`;
- formats are read off their RFCs: the original asks no more of an `email` than an `@`, takes
  `_` for a digit of a `uuid`, and leaves `date-time`, `time` and `uri` to other packages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,
    FormatChecker,
    ValidationError,
)
from jsonschema.validators import extend  # type: ignore[import-untyped]

Json = Any
Errors = Iterator[ValidationError]
Check = Callable[[Any, Json, Json, dict[str, Json]], Errors | None]

_ONE = (
    *("items", "contains", "not", "if", "then", "else", "additionalProperties", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAP = ("properties", "patternProperties", "$defs", "dependentSchemas")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge says of one document, and which keywords its verdict rests on.

    Of an accepted document: those that looked at a value of their type and were content. Of a
    refused one: those that an error names, or whose subschemas it lies in.
    """

    valid: bool
    keywords: frozenset[str]


def compile_judge(schema: dict[str, Json]) -> Callable[[bytes], Verdict]:
    """The judge of one schema; it takes the bytes of a document.

    Raises:
        ValueError: a pattern is outside the part of ECMA-262 that can be said in Python.
    """
    exact = _exact(json.dumps(schema))
    validator = _Judge(_with_python_patterns(exact), format_checker=_FORMATS)

    def judge(document: bytes) -> Verdict:
        value = _exact(document)
        _content.clear()
        errors = list(validator.iter_errors(value))
        if not errors:
            return Verdict(valid=True, keywords=frozenset(_content))
        named = {keyword for error in errors for keyword in _named(error)}
        return Verdict(valid=False, keywords=frozenset(named))

    return judge


def _exact(text: str | bytes) -> Json:
    return json.loads(text, parse_float=Decimal)


def _named(error: ValidationError) -> Iterator[str]:
    """The keywords on the way to an error: every step that is no name and no index."""
    steps = iter(error.schema_path)
    for step in steps:
        if isinstance(step, str):
            yield step
        if step in _MAP:
            next(steps, None)
    yield error.validator


# --- patterns ---------------------------------------------------------------------------------

_SPACE = r"\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_OUTSIDE = {"$": r"\Z", ".": r"[^\n\r\u2028\u2029]", r"\s": f"[{_SPACE}]", r"\S": f"[^{_SPACE}]"}
_INSIDE = {r"\s": _SPACE, "[": r"\["}
_TOKEN = re.compile(r"\\.|\(\?|.", re.DOTALL)


def ecma(pattern: str) -> str:
    """A pattern of ECMA-262 (`u` flag) in Python's words; `(?a:...)` makes its classes ASCII.

    Raises:
        ValueError: it has no such words here.
    """
    said, inside = "(?a:", False
    for match in _TOKEN.finditer(pattern):
        token = match[0]
        beyond = token in (r"\Z", r"\A") or token[:2] in (r"\p", r"\P", r"\c")
        if beyond or (inside and token == r"\S") or (token == "[" and inside):
            raise ValueError(f"the judge cannot say {token} in Python")
        said += (_INSIDE if inside else _OUTSIDE).get(token, token)
        inside = token == "[" or (inside and token != "]")
    return said + ")"


def _with_python_patterns(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    said = dict(schema)
    for keyword, value in schema.items():
        if keyword == "pattern":
            said[keyword] = ecma(value)
        elif keyword in _ONE:
            said[keyword] = _with_python_patterns(value)
        elif keyword in _LIST:
            said[keyword] = [_with_python_patterns(branch) for branch in value]
        elif keyword in _MAP:
            key = ecma if keyword == "patternProperties" else str
            said[keyword] = {key(name): _with_python_patterns(s) for name, s in value.items()}
    return said


# --- keywords that python-jsonschema takes too lightly ------------------------------------------


def identity(value: Json) -> Json:
    """A hashable that two JSON values share exactly when JSON Schema calls them equal."""
    if isinstance(value, dict):
        return ("object", frozenset((name, identity(member)) for name, member in value.items()))
    if isinstance(value, list):
        return ("array", *map(identity, value))
    if isinstance(value, bool):
        return ("boolean", value)
    return value  # a number never equals a string or None, and 1 == Decimal("1.0") in hash as well


def _unique(_: Any, wanted: bool, instance: Json, __: dict[str, Json]) -> Errors:
    if wanted and isinstance(instance, list) and len({*map(identity, instance)}) < len(instance):
        yield ValidationError("the items are not unique")


def _multiple(validator: Any, step: Json, instance: Json, _: dict[str, Json]) -> Errors:
    if not validator.is_type(instance, "number"):
        return
    if (Fraction(instance) / Fraction(step)).denominator != 1:
        yield ValidationError("the number is no multiple")


def _conditional(validator: Any, test: Json, instance: Json, schema: dict[str, Json]) -> Errors:
    branch = "then" if validator.evolve(schema=test).is_valid(instance) else "else"
    if branch in schema:
        content = True
        for error in validator.descend(instance, schema[branch], schema_path=branch):
            content = False
            yield error
        if content:
            _content.add(branch)


# --- watching -----------------------------------------------------------------------------------

_content: set[str] = set()  # of the document under judgement; a process judges one at a time

_NUMBER, _TEXT, _ARRAY, _OBJECT = (int, Decimal), (str,), (list,), (dict,)
_SPEAKS_OF = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("multipleOf",), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), _TEXT),
    **dict.fromkeys(("items", "prefixItems", "contains", "unevaluatedItems"), _ARRAY),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), _ARRAY),
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties"), _OBJECT),
    **dict.fromkeys(("propertyNames", "unevaluatedProperties", "required"), _OBJECT),
    **dict.fromkeys(("minProperties", "maxProperties"), _OBJECT),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), _OBJECT),
}
_COMPANIONS = {"contains": ("minContains", "maxContains")}


def _watched(keyword: str, check: Check) -> Check:
    kinds = _SPEAKS_OF.get(keyword)
    companions = _COMPANIONS.get(keyword, ())

    def watch(validator: Any, value: Json, instance: Json, schema: dict[str, Json]) -> Errors:
        content = True
        for error in check(validator, value, instance, schema) or ():
            content = False
            if keyword in ("if", "$ref"):  # the only two that python-jsonschema leaves out
                error.schema_path.appendleft(keyword)
            yield error
        if content and (kinds is None or type(instance) in kinds):
            _content.add(keyword)
            _content.update(name for name in companions if name in schema)

    return watch


def _is_integer(_: Any, instance: Json) -> bool:
    if isinstance(instance, Decimal):
        return instance == instance.to_integral_value()
    return isinstance(instance, int) and not isinstance(instance, bool)


# --- formats ------------------------------------------------------------------------------------

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(
    r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(  # RFC 5321 without quoted local parts and address literals
    rf"(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*"
)

_PLAIN = r"[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}"  # RFC 3986: unreserved, sub-delims, pct
_PATH = rf"(?:{_PLAIN}|[:@/])*"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|(?:{_PLAIN})*)"
_AUTHORITY = rf"(?:(?:{_PLAIN}|:)*@)?{_HOST}(?::[0-9]*)?"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://{_AUTHORITY}(?:/{_PATH})?|(?!//){_PATH})"
    rf"(?:\?(?:{_PLAIN}|[:@/?])*)?(?:#(?:{_PLAIN}|[:@/?])*)?"
)


def is_date(value: str) -> bool:
    """RFC 3339 full-date, which has a year 0000: a leap year, as 2000 is; Python has none."""
    if not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat("2000" + value[4:] if value.startswith("0000") else value)
    except ValueError:
        return False
    return True


def is_time(value: str) -> bool:
    """RFC 3339 full-time; second 60 only where it is 23:59 in UTC."""
    match = _TIME.fullmatch(value)
    if match is None or match[3] != "60":
        return match is not None
    sign = -1 if match[4] == "+" else 1
    offset = int(match[5] or 0) * 60 + int(match[6] or 0)
    return (int(match[1]) * 60 + int(match[2]) + sign * offset) % 1440 == 1439


_STRICT: dict[str, Callable[[str], bool]] = {
    "date": is_date,
    "time": is_time,
    "date-time": lambda v: is_date(v[:10]) and v[10:11] in ("T", "t") and is_time(v[11:]),
    "email": lambda v: _EMAIL.fullmatch(v) is not None,
    "uuid": lambda v: _UUID.fullmatch(v) is not None,
    "uri": lambda v: _URI.fullmatch(v) is not None,
}
_FORMATS = FormatChecker(("ipv4", "ipv6"))  # the two of the original that are strict
for _name, _fits in _STRICT.items():
    _FORMATS.checks(_name)(lambda v, fits=_fits: not isinstance(v, str) or fits(v))

_EXACT: dict[str, Check] = {"uniqueItems": _unique, "multipleOf": _multiple, "if": _conditional}
_CHECKS: dict[str, Check] = {**Draft202012Validator.VALIDATORS, **_EXACT}
_Judge: Any = extend(
    Draft202012Validator,
    {keyword: _watched(keyword, check) for keyword, check in _CHECKS.items()},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
