r"""What the generator draws from: values on whose meaning every careful reader agrees.

Left out on purpose are the corners where ECMA-262, Python and the engines part ways (`.` before a
carriage return, `\b` beside a letter with an accent, e-mail addresses with quotes): a label must
be beyond doubt before it can accuse anyone.
"""

from __future__ import annotations

from typing import Any

Json = Any
Schema = dict[str, Json]

LARGEST = 2**63 - 1  # integers are exact in and out up to here, by the product's contract
EXACT = 2**53  # beyond, a float no longer tells neighbours apart

# Rarely drawn: names that a careless implementation confuses with its own words.
NAMES = ("path", "min_length", "count", "a", "b", "tag", "node", "items_2", "url", "limit", "é")
ODD_NAMES = ("type", "$ref", "required", "properties", "a/b", "~1", "", "const", "a b", "__proto__")
EXTRAS = ("extra", "Path", "paths", "count ", "x", "\u0435", "1", "constructor")

# Names of definitions, references to them, and what else the definition says (numbers follow).
REFERENCES: tuple[tuple[str, str, Schema], ...] = (
    *(("d", "#/$defs/d", {}),) * 6,
    ("a/b", "#/$defs/a~1b", {}),
    ("~1", "#/$defs/~01", {}),
    ("ü %", "#/$defs/%C3%BC%20%25", {}),
    ("d", "#anchor", {"$anchor": "anchor"}),
)

LETTERS = 'aZ09 _-éß漢\u0301😀𝒳\u200d\u2028"\\/\x00\x7f\t\n'

# A pattern, texts that it matches, texts that it does not.
PATTERNS = (
    (r"^[a-z][a-z0-9_]*$", ("a", "snake_case_2"), ("A", "2a", "a-b", "", "a\n", "é")),
    (r"[0-9]{3}", ("x123y", "0000"), ("12", "1 2 3", "", "١٢٣")),
    (r"^(?:foo|ba[rz])+$", ("foo", "barbaz"), ("", "fooba", "foo bar", "Foo")),
    (r"^\d{4}-\d{2}$", ("2024-01",), ("24-01", "2024-001", "٢٠٢٤-٠١", "2024-01\n")),
    (r"^\w+$", ("abc_1", "A"), ("é", "a b", "", "a-b")),
    (r"^\S+$", ("abc", "😀"), ("a b", "a\u00a0b", "\u3000", "")),
    (r"^[^\s/]+$", ("abc", "é"), ("a/b", "a b", "a\u2028b", "")),
    (r"^.{2,4}$", ("ab", "😀😀", "e\u0301"), ("a", "😀", "abcde", "a\nb")),
    (r"^\/[^/]+$", ("/a", "/é"), ("a", "/", "/a/b")),
    (r"^$|^x", ("", "xyz"), ("y", " ")),
    (r"[.]json$", ("a.json", ".json"), ("ajson", "a.json ", "a.json\n")),
    (r"^\D$", ("a", "١"), ("1", "ab")),
    ("é+$", ("é", "aéé"), ("e", "e\u0301", "éa")),
)

_UUID = "2eb8aa08-aa98-11ea-b4aa-73b441d16380"
# `*+,-./` lie before the digits in ASCII, and an engine was found to take them for digits.
FORMATS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "date": (
        ("2024-02-29", "1999-12-31"),
        (
            *(
                "2023-02-29",
                "2024-1-01",
                "2024-13-01",
                "20240101",
                "2024-01-01\n",
                "2100-02-29",
                "",
            ),
            *("*999-12-31", "0-01-01-01", "2024-01-1*"),
        ),
    ),
    "time": (
        ("12:00:00Z", "23:59:60Z", "12:00:00.123+01:00", "22:59:60-01:00"),
        (
            *("12:00:00", "24:00:00Z", "12:00:60Z", "12:00Z", "12:00:00-0100", ""),
            *("12:00:0/Z", "1-:00:00Z", "12:00:00+0+:00"),
        ),
    ),
    "date-time": (
        ("2024-01-01T00:00:00Z", "2024-01-01t00:00:00.5+05:30", "1998-12-31T23:59:60Z"),
        (
            *("2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-02-30T00:00:00Z", "2024-01-01"),
            *("2024-01-0,T00:00:00Z", "2024-01-01T00:00:0.Z"),
        ),
    ),
    "email": (("a@b.co", "first.last+tag@example.org"), ("a", "", "a.b.co", "example.org")),
    "ipv4": (("1.2.3.4", "0.0.0.0"), ("256.1.1.1", "01.2.3.4", "1.2.3", "1.2.3.4/8", " 1.2.3.4")),
    "ipv6": (
        ("::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"),
        ("1::2::3", "fe80::1%eth0", "12345::", "[::1]", "1:2:3:4:5:6:7:8:9"),
    ),
    "uuid": (
        (_UUID, _UUID.upper(), "00000000-0000-0000-0000-000000000000"),
        (_UUID.replace("-", ""), f"{{{_UUID}}}", _UUID[:-1], _UUID[:-1] + "g", f"urn:uuid:{_UUID}"),
    ),
    "uri": (
        ("http://a.b/c?d#e", "urn:isbn:123", "file:///etc"),
        ("//a/b", "/a", "http://a b/", "http://a/%zz", "http://a/<b>", ""),
    ),
}

# Members of an enum, and what lies beside them.
CHOICES: tuple[tuple[tuple[Json, ...], tuple[Json, ...]], ...] = (
    (("red", "green"), ("Red", "green ", "", "re")),
    ((1, 2, 3), (4, "1", True, 1.5, [1])),
    ((0, 1), (False, True, "0", None)),
    ((False,), (0, None, "false", "")),
    ((True, "1"), (1, "true")),
    ((None, "x"), (0, "null", "", False)),
    ((EXACT + 1, LARGEST, -LARGEST), (EXACT, EXACT + 2, LARGEST - 1, 1 - LARGEST)),
    ((0.1, 1e-7, 2.5), (0.2, 0.1000001, 1, 2)),
    (([1, 2], []), ([2, 1], [1, 2, 3], {}, [True, 2], [[]])),
    (({"a": 1, "b": None}, {}), ({"a": 2, "b": None}, {"a": 1}, {"a": True, "b": None}, [])),
    (("é", "😀"), ("e\u0301", "É", "😀😀")),
    (([{"a": [0]}],), ([{"a": [False]}], [{"a": []}], [{"a": [0], "b": 1}])),
)

SAMPLES: dict[str, tuple[Json, ...]] = {
    "null": (None,),
    "boolean": (True, False),
    "integer": (0, -1, 12, LARGEST),
    "number": (0.5, -2.25, 1e-9),
    "string": ("", "10", "true", "null"),
    "array": ([], [1], [1, 2]),
    "object": ({}, {"k": 1}),
}

# Pairwise different for JSON Schema, and easily taken for each other.
CONFUSABLE: tuple[Json, ...] = (
    *(0, False, "0", None, [], {}, 1, True, "1", [1], [True], {"a": 1}, {"a": True}, 0.5),
    *(EXACT, EXACT + 1, "é", "e\u0301", [[1]], [[True]], {"a": 1, "b": 0}),
)

# `contains`, what it matches, a schema for the others, the others, what neither matches.
_OPEN = {
    "type": "object",
    "properties": {"k": {"const": 1}},
    "required": ["k"],
    "additionalProperties": True,
}
_LOW = {"type": ["integer", "boolean"], "maximum": 9}
_SHORT = {"type": "string", "maxLength": 1}
Contained = tuple[Schema, tuple[Json, ...], Schema, tuple[Json, ...], tuple[Json, ...]]
CONTAINED: tuple[Contained, ...] = (
    ({"const": "x"}, ("x",), {"type": "integer"}, (1, 2, 0), ("X", None, 1.5)),
    ({"type": "integer", "minimum": 10}, (10, 11), _LOW, (9, True, -1), ("10", None, 9.5)),
    ({"type": "string", "pattern": "^b"}, ("b", "ba"), _SHORT, ("a", "", "😀"), ("ab", 1)),
    (_OPEN, ({"k": 1}, {"k": 1, "z": 0}), {"type": "null"}, (None,), ({"k": 2}, {}, 0)),
)

# `propertyNames`, names that fit (five of them), names that do not.
_DAYS = tuple(f"2024-01-0{day}" for day in range(1, 6))
NAMED: tuple[tuple[Schema, tuple[str, ...], tuple[str, ...]], ...] = (
    ({"pattern": "^[a-z_]+$"}, ("a", "bc", "d_e", "f", "g"), ("A", "a1", "", "a\n")),
    ({"maxLength": 2}, ("", "a", "ab", "😀😀", "é"), ("abc", "😀😀😀")),
    ({"minLength": 2}, ("ab", "cd", "éé", "😀a", "xyz"), ("", "😀", "a")),
    ({"enum": ["a", "b", "c", "d", "e"]}, ("a", "b", "c", "d", "e"), ("f", "A", "")),
    ({"not": {"const": "x"}}, ("a", "b", "c", "d", "X"), ("x",)),
    ({"format": "date"}, _DAYS, ("2023-02-29", "a")),
)
