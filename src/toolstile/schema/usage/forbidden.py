"""What a usage text must not hold: secrets, one machine's settings, internals, hidden characters.

Matching is done on the NFKC form without invisible characters, so that full-width letters or a
zero-width space in the middle of a word hide nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

import msgspec


class Find(msgspec.Struct, frozen=True, kw_only=True):
    """One forbidden thing: its code, the line it is on, what it looks like and what to do."""

    code: str
    line: int
    what: str
    hint: str


class _Rule(msgspec.Struct, frozen=True):
    """A pattern, what a match looks like, and the test that a match must pass as well."""

    what: str
    pattern: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] = lambda found: True


class _Kind(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    hint: str
    rules: tuple[_Rule, ...]


def visible(text: str) -> str:
    """The text as a reader takes it: NFKC, without characters that nobody sees."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if not _invisible(c))


def forbidden(text: str, own_words: str) -> Iterator[Find]:
    """What is forbidden in a text, once for each rule; `own_words` are the tool's own names."""
    yield from _characters(text)
    seen = visible(text)
    own = own_words.lower()
    for kind in _KINDS:
        for rule in kind.rules:
            for found in rule.pattern.finditer(seen):
                if rule.holds(found) and not _is_own(found, own):
                    line = seen.count("\n", 0, found.start()) + 1
                    yield Find(code=kind.code, line=line, what=rule.what, hint=kind.hint)
                    break


# --- characters

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
_TWO_ALPHABETS = re.compile("[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")
# Invisible without being format characters (Cf): fillers, joiners, selectors, line separators.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0")
_SELECTOR = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0d\U000e0100-\U000e01ef]|[\ufe0e\ufe0f]{2}")


def _characters(text: str) -> Iterator[Find]:
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        hint = "only line feeds and tabs are allowed"
        yield Find(code="usage_control_character", line=line, what="a control character", hint=hint)
    place = next((i for i, c in enumerate(text) if _invisible(c)), None)
    found = _SELECTOR.search(text) or _TWO_ALPHABETS.search(text)
    if place is None and found is not None:
        place = found.start()
    if place is not None:
        line = text.count("\n", 0, place) + 1
        what = "a character that nobody sees, or letters of two alphabets in one word"
        hint = "write visible characters of one alphabet only"
        yield Find(code="usage_hidden_unicode", line=line, what=what, hint=hint)


def _invisible(character: str) -> bool:
    return character in _UNSEEN or (
        not character.isascii() and unicodedata.category(character) == "Cf"
    )


# --- secrets

_TOKENS = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}"
    r"|sk-[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|xox[abeoprs]-[\w-]{10,}"
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[\w-]{40,}|hf_[A-Za-z0-9]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}|AGE-SECRET-KEY-1\w{20,}"
)
_KEY = (
    r"(?:password|passwd|passphrase|pwd|secret(?![_ -]?key)|token|credentials?"
    r"|(?:api|access|private|secret)[_ -]?key|client[_ -]?secret)"
)
_ASSIGNED = re.compile(
    rf"(?P<key>{_KEY})[\"'`]?(?P<op>\s*(?:==?>?|:=)\s*|\s*:[ \t]*|\s+is[ \t]+)"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[^\s\"'`,;)}\]]+)",
    re.IGNORECASE,
)
_NO_SECRET_KEY = re.compile(
    r"(?:page|next|continuation|cursor|sync|cancellation|max|num)[_-]?$", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r".*(?:[<>{}*…]|\.\.\.)|[$%]|(?:secret|env|file|vault):"
    r"|(?:your|my|the|an?|some|new|old|this|example|sample|placeholder|change_?me|redacted|string"
    r"|str|text|none|null|true|false|required|optional|value|name|not|never|x{3,}|todo|password"
    r"|passwd|secret|token|api)(?![A-Za-z0-9])|[A-Z][A-Z_]*$",
    re.IGNORECASE,
)


def _is_value(found: re.Match[str]) -> bool:
    """Tells a secret's value from a placeholder, a type or a word of explanation."""
    if _NO_SECRET_KEY.search(found.string, max(0, found.start() - 16), found.start()):
        return False
    quoted = found["value"][0] in "\"'`"
    value = found["value"].strip("\"'`").rstrip(".")
    operator = found["op"].strip()
    if len(value) < 4 or re.search(r"\s", value) or _is_placeholder(value):
        return False
    if operator == ":" and found["key"].lower() == "secret" and not found["op"].endswith(" "):
        return False  # secret:NAME is how a secret is spoken of
    mixed = re.search(r"\d", value) is not None and re.search(r"[A-Za-z]", value) is not None
    if "=" in operator:
        return True
    return len(value) >= 6 and (mixed or (quoted and operator == ":"))


def _is_placeholder(value: str) -> bool:
    if value.isupper() and not re.search(r"\d", value):
        return True
    found = _PLACEHOLDER.match(value)
    return found is not None and not (found[0][0].isupper() and re.search(r"\d", value))


def _is_login(found: re.Match[str]) -> bool:
    """False for a pattern, and for the textbook's user:password where it is refused."""
    textbook = re.search(r"//user(?:name)?:pass(?:word)?@$", found[0])
    if textbook is not None and not _is_setting(found):
        return False
    return not re.search(r"[<>{}*$…]", found[0])


def _has_digit(found: re.Match[str]) -> bool:
    return re.search(r"\d", found[1]) is not None and not found[1].isdigit()


_SECRETS = (
    _Rule("an access token or API key", re.compile(rf"(?<![\w-])(?:{_TOKENS})")),
    _Rule("a private key", re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE)")),
    _Rule("a password or key with its value", _ASSIGNED, _is_value),
    _Rule(
        "an address with credentials",
        re.compile(r"(?<![\w+.-])[A-Za-z][\w+.-]{0,20}://[^\s/:@]{1,80}:[^\s/@]{1,80}@"),
        _is_login,
    ),
    _Rule(
        "the credentials of a header",
        re.compile(r"\b(?:Bearer|Basic)\s+([\w.~+/=-]{16,})"),
        _has_digit,
    ),
)


# --- one machine's settings

_REFUSING = re.compile(r"(?:refus|reject|block|den(?:y|ied)|forbid|disallow)", re.IGNORECASE)
_HOST_EXAMPLES = frozenset(("host", "hostname", "server", "domain", "example", "site", "h"))


def _is_setting(found: re.Match[str]) -> bool:
    """False where the text only says that such an address is refused."""
    text, start, end = found.string, found.start(), found.end()
    before, after = text[max(0, start - 160) : start], text[end : end + 160]
    sentence = re.split(r"[.!?]\s|\n", before)[-1] + " " + re.split(r"[.!?](?:\s|$)|\n", after)[0]
    bare = re.match(r":\d|/[^\d\s]", after) is None and not before.endswith("//")
    if re.match(r"\S{0,40}\s\W{0,2}(?:is |are )?(?:refused|rejected|blocked|denied)", after):
        return False
    example = re.search(
        r"(?:e\.g\.|such as|for example|like)[,:]?\s*[\"'`(]?$", before, re.IGNORECASE
    )
    return not (bare and (example or _REFUSING.search(sentence)))


def _is_machine(found: re.Match[str]) -> bool:
    return found[1].lower() not in _HOST_EXAMPLES and not found[1].isupper()


_HOME = "somebody's home directory"
_SETTINGS = (
    _Rule(_HOME, re.compile(r"(?<![\w.<>}/-])/(?:home|Users)/[A-Za-z0-9_]")),
    _Rule(_HOME, re.compile(r"(?<![\w.<>}/-])/root/\w|file:///(?:home|Users|root)/\w")),
    _Rule(_HOME, re.compile(r"\b[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2}\w")),
    _Rule("a network share", re.compile(r"(?<!\w)\\\\[A-Za-z][\w.-]{1,60}\\{1,2}\w")),
    _Rule(
        "a local address",
        re.compile(r"\blocalhost(?=:\d)|(?<=//)localhost\b|\[::1\]", re.IGNORECASE),
        _is_setting,
    ),
    _Rule(
        "a private address",
        re.compile(
            r"(?<![\w.])(?:10\.\d{1,3}|127\.\d{1,3}|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))"
            r"\.\d{1,3}\.\d{1,3}(?![\d.]*\d|/\d)|(?<![\w:])f[cd][0-9a-f]{2}:[0-9a-f:]{2,39}"
        ),
        _is_setting,
    ),
    _Rule(
        "an internal host name",
        re.compile(
            r"(?<![\w.@-])(?:\*|[a-z0-9-]{1,63})(?:\.[a-z0-9-]{1,63}){0,5}"
            r"\.(?:internal|corp|intranet|lan|local|localdomain)\b(?![.\w-]*\w\()(?!\.\w)",
            re.IGNORECASE,
        ),
        _is_setting,
    ),
    _Rule(
        "a machine's address",
        re.compile(
            r"\b(?:https?|postgres(?:ql)?|mysql|redis|mongodb|amqp|ldaps?|smb|ftp)"
            r"://([A-Za-z][\w-]{0,60})(?=:\d|/|\s|$)(?![^\s/]{0,80}@)"
        ),
        _is_machine,
    ),
    _Rule("an account's resource name", re.compile(r"\barn:aws[\w-]*:\w+:[\w-]*:\d{12}:")),
)


# --- internals

_TECHNOLOGY = (
    r"(?:redis|memcached?|postgres(?:ql)?|mysql|sqlite|mongo(?:db)?|dynamodb|cassandra|kafka"
    r"|rabbitmq|celery|elasticsearch|opensearch|lucene|solr|s3|kubernetes|docker|lambda|pandas|numpy"
    r"|requests|httpx|aiohttp|asyncio|sqlalchemy|django|flask|fastapi|lru|hash ?maps?|b-?trees?"
    r"|mutex(?:es)?|thread pools?|connection pools?|worker pools?|semaphores?|cron)"
)
_BUILT_WITH = (
    r"(?:uses|using|backed by|built (?:on|with)|powered by|runs on|sits on|relies on|delegates to"
    r"|talks to|goes through"
    r"|implemented (?:in|with|on|by|as)|(?:stored|cached|kept|held|persisted) (?:in|to)|queued in)"
)
_IDENTIFIER = (
    r"`?(?:[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Za-z_]\w*(?:_\w+)+|_\w+|[A-Za-z_]\w*(?:\.\w+)+)(?:\(\))?`?"
)
_CODE_WORD = r"(?:class|method|function|module|package|struct|helper|handler|service)"


def _is_own(found: re.Match[str], own_words: str) -> bool:
    """True where the words are the tool's own name or the technology it is named after."""
    words = found.groupdict().get("name") or ""
    return bool(words) and words.lower().strip("`()") in own_words


def _rests_on_it(found: re.Match[str]) -> bool:
    """False where the text tells the reader not to rely on such a thing."""
    before = found.string[max(0, found.start() - 80) : found.start()].lower()
    return (
        re.search(r"\b(?:not|never|don't) (?:depend|rely|assume|build)\b[^.\n]*$", before) is None
    )


def _inside(what: str, pattern: str) -> _Rule:
    return _Rule(what, re.compile(pattern, re.IGNORECASE), _rests_on_it)


_WORKING = "how it works inside"
_PRESENT = "how it works at present"
_MATERIAL = "what it is made of"
_INTERNALS = (
    _inside(_WORKING, r"\binternally\b(?! consistent)"),
    _inside(_WORKING, r"\bunder the (?:hood|bonnet)\b|\bbehind the scenes\b"),
    _inside(_WORKING, r"\bimplementation details?\b"),
    _inside(_PRESENT, r"\b(?:current|present) (?:implementation|code ?base)\b"),
    _inside(
        _PRESENT,
        r"\bcurrently (?:uses?|calls?|implemented|backed|stored|built|runs on|relies on|written"
        r"|cached)\b",
    ),
    _inside(
        _MATERIAL,
        rf"\b{_BUILT_WITH}(?: (?:an?|the|its|our|local|shared|in)){{0,3}}"
        rf" (?P<name>{_TECHNOLOGY})\b",
    ),
    _inside(_MATERIAL, r"\b(?:thread|connection|worker|process) pools?\b"),
    _inside(
        _MATERIAL,
        r"\bimplemented (?:in|with|using|on|on top of) (?:python|java|rust|go|c\+\+|node"
        r"|(?-i:[A-Z]\w*[a-z]\w*)|an? (?:\w+ ){0,2}(?:class|function|library|script|service))\b",
    ),
    _inside(_MATERIAL, r"\b(?:thin |simple |light )?wrapper (?:around|over|for|of)\b"),
    _inside("a function of the code", r"(?<![\w.`/])`?(?P<name>\w++(?:\.\w++)+)\("),
    _inside("a part of the code", r"\bself\.\w+|\b__\w+__\b"),
    _inside(
        "a line of the code",
        r"\w\.(?:py|pyi|ts|tsx|js|go|rs|java|kt|cs|cc|cpp|c|h|rb|php):\d+",
    ),
    _inside(
        "a part of the code",
        rf"\b(?:by|via|in|uses|calls?|through|from|see|of|with)(?: the| our| its)? "
        rf"(?:{_CODE_WORD} (?-i:{_IDENTIFIER})|(?-i:{_IDENTIFIER}) {_CODE_WORD}\b)",
    ),
)

_KINDS = (
    _Kind(
        code="usage_secret",
        hint="take it out and revoke it; tools get secrets by name, on the host side",
        rules=_SECRETS,
    ),
    _Kind(
        code="usage_environment",
        hint="say what to pass, not what one machine has; settings belong in the configuration",
        rules=_SETTINGS,
    ),
    _Kind(
        code="usage_internals",
        hint="say what callers can rely on; how it is done may change",
        rules=_INTERNALS,
    ),
)
