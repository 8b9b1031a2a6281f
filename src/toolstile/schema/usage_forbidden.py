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


class _Rule(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    what: str
    hint: str
    pattern: re.Pattern[str]
    holds: Callable[[re.Match[str]], bool] = lambda found: True


def visible(text: str) -> str:
    """The text as a reader takes it: NFKC, without characters that nobody sees."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if not _invisible(c))


def forbidden(text: str, own_words: str) -> Iterator[Find]:
    """What is forbidden in a text, once for each rule; `own_words` are the tool's own names."""
    yield from _characters(text)
    seen = visible(text)
    own = own_words.lower()
    for rule in _RULES:
        for found in rule.pattern.finditer(seen):
            if rule.holds(found) and not _own(found, own):
                line = seen.count("\n", 0, found.start()) + 1
                yield Find(code=rule.code, line=line, what=rule.what, hint=rule.hint)
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
    r"(?:password|passwd|passphrase|pwd|secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key"
    r"|client[_ -]?secret|credentials?)"
)
_ASSIGNED = re.compile(
    rf"(?P<key>{_KEY})[\"'`]?(?P<op>\s*(?:==?>?|:=)\s*|\s*:[ \t]*|\s+is[ \t]+)"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[^\s\"'`,;)}\]]+)",
    re.I,
)
_NO_SECRET_KEY = re.compile(
    r"(?:page|next|continuation|cursor|sync|cancellation|max|num)[_-]?$", re.I
)
_PLACEHOLDER = re.compile(
    r".*(?:[<>{}*…]|\.\.\.)|[$%]|(?:secret|env|file|vault):"
    r"|(?:your|my|the|an?|some|new|old|this|example|sample|placeholder|change_?me|redacted|string"
    r"|str|text|none|null|true|false|required|optional|value|name|not|never|x{3,}|todo|password"
    r"|passwd|secret|token|api)(?![A-Za-z0-9])|[A-Z][A-Z_]*$",
    re.I,
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
    return not re.search(r"[<>{}*$…]", found[0])


def _has_digit(found: re.Match[str]) -> bool:
    return re.search(r"\d", found[1]) is not None and not found[1].isdigit()


# --- one machine's settings

_REFUSING = re.compile(r"(?:refus|reject|block|den(?:y|ied)|forbid|disallow)", re.I)
_HOST_EXAMPLES = frozenset(("host", "hostname", "server", "domain", "example", "site", "h"))


def _is_setting(found: re.Match[str]) -> bool:
    """False where the text only says that such an address is refused."""
    text, start, end = found.string, found.start(), found.end()
    before, after = text[max(0, start - 160) : start], text[end : end + 160]
    sentence = re.split(r"[.!?]\s|\n", before)[-1] + " " + re.split(r"[.!?](?:\s|$)|\n", after)[0]
    bare = re.match(r":\d|/[^\d\s]", after) is None and not before.endswith("//")
    if re.match(r"\S{0,40}\s\W{0,2}(?:is |are )?(?:refused|rejected|blocked|denied)", after):
        return False
    example = re.search(r"(?:e\.g\.|such as|for example|like)[,:]?\s*[\"'`(]?$", before, re.I)
    return not (bare and (example or _REFUSING.search(sentence)))


def _is_machine(found: re.Match[str]) -> bool:
    return found[1].lower() not in _HOST_EXAMPLES and not found[1].isupper()


# --- internals

_TECHNOLOGY = (
    r"(?:redis|memcached?|postgres(?:ql)?|mysql|sqlite|mongo(?:db)?|dynamodb|cassandra|kafka"
    r"|rabbitmq|celery|elasticsearch|opensearch|lucene|solr|s3|kubernetes|docker|lambda|pandas|numpy"
    r"|requests|httpx|aiohttp|asyncio|sqlalchemy|django|flask|fastapi|lru|hash ?maps?|b-?trees?"
    r"|mutex(?:es)?|thread pools?|connection pools?|worker pools?|semaphores?|cron)"
)
_BUILT_WITH = (
    r"(?:uses|using|backed by|built (?:on|with)|powered by|runs on|sits on|relies on|delegates to"
    r"|implemented (?:in|with|on|by|as)|(?:stored|cached|kept|held|persisted) (?:in|to)|queued in)"
)
_IDENTIFIER = (
    r"`?(?:[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Za-z_]\w*(?:_\w+)+|_\w+|[A-Za-z_]\w*(?:\.\w+)+)(?:\(\))?`?"
)
_CODE_WORD = r"(?:class|method|function|module|package|struct|helper|handler|service)"


def _own(found: re.Match[str], own_words: str) -> bool:
    """True where the words are the tool's own name or the technology it is named after."""
    words = found.groupdict().get("name") or ""
    return bool(words) and words.lower().strip("`()") in own_words


def _rests_on_it(found: re.Match[str]) -> bool:
    """False where the text tells the reader not to rely on such a thing."""
    before = found.string[max(0, found.start() - 80) : found.start()].lower()
    return (
        re.search(r"\b(?:not|never|don't) (?:depend|rely|assume|build)\b[^.\n]*$", before) is None
    )


def _rules() -> Iterator[_Rule]:
    secret = "take it out and revoke it; tools get secrets by name, on the host side"
    for what, pattern, holds in (
        ("an access token or API key", rf"(?<![\w-])(?:{_TOKENS})", None),
        ("a private key", r"-----BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE)", None),
        ("a password or key with its value", _ASSIGNED.pattern, _is_value),
        (
            "an address with credentials",
            r"(?<![\w+.-])[A-Za-z][\w+.-]{0,20}://[^\s/:@]{1,80}:[^\s/@]{1,80}@",
            _is_login,
        ),
        ("credentials of a header", r"\b(?:Bearer|Basic)\s+([\w.~+/=-]{16,})", _has_digit),
    ):
        flags = re.I if holds is _is_value else re.NOFLAG
        yield _rule("usage_secret", what, secret, re.compile(pattern, flags), holds)
    setting = (
        "describe what to pass, not what one machine has; settings belong in the configuration"
    )
    for what, pattern, holds in (
        ("somebody's home directory", r"(?<![\w.<>}/-])/(?:home|Users)/[A-Za-z0-9_]", None),
        ("somebody's home directory", r"(?<![\w.<>}/-])/root/\w", None),
        ("somebody's home directory", r"\b[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2}\w", None),
        ("a network share", r"(?<!\w)\\\\[A-Za-z][\w.-]{1,60}\\{1,2}\w", None),
        ("a local address", r"(?i)\blocalhost(?=:\d)|(?<=//)localhost\b|\[::1\]", _is_setting),
        (
            "a private address",
            r"(?<![\w.])(?:10\.\d{1,3}|127\.\d{1,3}|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))"
            r"\.\d{1,3}\.\d{1,3}(?![\d.]*\d|/\d)",
            _is_setting,
        ),
        (
            "an internal host name",
            r"(?i)(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}"
            r"\.(?:internal|corp|intranet|lan|local|localdomain)\b(?![.\w-]*\w\()(?!\.\w)",
            _is_setting,
        ),
        (
            "a machine's address",
            r"\b(?:https?|postgres(?:ql)?|mysql|redis|mongodb|amqp|ldaps?|smb|ftp)"
            r"://([A-Za-z][\w-]{0,60})(?=:\d|/|\s|$)(?![^\s/]{0,80}@)",
            _is_machine,
        ),
        ("an account's resource name", r"\barn:aws[\w-]*:\w+:[\w-]*:\d{12}:", None),
    ):
        yield _rule("usage_environment", what, setting, re.compile(pattern), holds)
    internal = "say what callers can rely on; how it is done may change"
    for what, pattern in (
        ("how it works inside", r"\binternally\b(?! consistent)"),
        ("how it works inside", r"\bunder the (?:hood|bonnet)\b|\bbehind the scenes\b"),
        ("how it works inside", r"\bimplementation details?\b"),
        (
            "how it works at present",
            r"\b(?:current|present) (?:implementation|code ?base)\b|\bcurrently (?:uses?|calls?"
            r"|implemented|backed|stored|built|runs on|relies on|written|cached)\b",
        ),
        ("what it is made of", rf"\b{_BUILT_WITH}(?: (?:an?|the|its|our|local|shared|in)){{0,3}} (?P<name>{_TECHNOLOGY})\b"),
        ("what it is made of", r"\b(?:thread|connection|worker|process) pools?\b"),
        (
            "what it is made of",
            r"\bimplemented (?:in|with|using|on|on top of) (?:python|java|rust|go|c\+\+|node"
            r"|(?-i:[A-Z]\w*[a-z]\w*)|an? (?:\w+ ){0,2}(?:class|function|library|script|service))\b",
        ),
        ("what it is made of", r"\b(?:thin |simple |light )?wrapper (?:around|over|for|of)\b"),
        ("a function of the code", r"(?<![\w.`/])`?(?P<name>\w++(?:\.\w++)++)\(|\bself\.\w+|\b__\w+__\b"),
        ("a line of the code", r"\w\.(?:py|pyi|ts|tsx|js|go|rs|java|kt|cs|cc|cpp|c|h|rb|php):\d+"),
        (
            "a part of the code",
            rf"\b(?:by|via|in|uses|calls?|through|from|see|of|with)(?: the| our| its)? "
            rf"(?:{_CODE_WORD} (?-i:{_IDENTIFIER})|(?-i:{_IDENTIFIER}) {_CODE_WORD}\b)",
        ),
    ):  # fmt: skip
        yield _rule("usage_internals", what, internal, re.compile(pattern, re.I), _rests_on_it)


def _rule(
    code: str,
    what: str,
    hint: str,
    pattern: re.Pattern[str],
    holds: Callable[[re.Match[str]], bool] | None,
) -> _Rule:
    return _Rule(code=code, what=what, hint=hint, pattern=pattern, holds=holds or (lambda _: True))


_RULES = tuple(_rules())
