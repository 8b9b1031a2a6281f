"""What a usage text must speak about (AGN 7.2.1), and how to tell that it does.

A topic is covered by a section under one of its headings that says something, or by a sentence
anywhere that speaks of it. Sending the reader elsewhere ("see the manual") says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from toolstile.schema.usage.headings import TOPICS, long_form
from toolstile.schema.usage.text import Unit

_USE = r"(?:use|call|invoke|choose|pick|prefer|run|try|reach for)"
_SELF = r"(?:this tool|the tool|this|it)"
_NOT_DOING = (
    r"is|was|has|does|needs|requires|accepts|fails|takes (?:\w+ )?(?:arguments?|parameters?)"
    r"|returns (?:an? )?error"
)
_SPOKEN = {
    "purpose": (
        r"\bthe (?:purpose|aim|goal) (?:of|is)\b",
        r"\b(?:is|are) (?:used|meant|designed) (?:to|for)\b",
        rf"^\W*{_SELF}\W{{0,2}}\s+[-\u2013—:→]+ (?!usage)(?:\w+ ){{2}}\w+",
        r"^(?:an? )?(?:\w+ ){0,3}tool (?:that|which|to|for) \w+",
        r"\b(?:lets|allows|enables|helps) (?:you|the agent|an agent|agents|callers|users)\b",
        rf"(?<!not )(?<!never )\buse {_SELF} to \w+",
        (
            rf"^\W*{_SELF}[`\"']?(?: tool)?(?: is a tool that)?[\s:—\u2013-]+(?:\w+ly )?"
            rf"(?!(?:{_NOT_DOING})\b)[a-z]+s\b"
        ),
    ),
    "when": (
        (
            rf"\b{_USE}\b(?: {_SELF})?(?: tool)?(?: only| always)?"
            r" (?:when|whenever|if|for|to|once|after|before|as soon as|where)\b"
        ),
        rf"\b{_USE} {_SELF}(?: tool)?[^.;]{{0,60}}? (?:when|whenever|if|once|after|before)\b",
        rf"\b(?:use|call)(?: {_SELF})?(?: tool)? only\b",
        (
            r"\b(?:useful|helpful|suited|suitable|meant|intended|appropriate|ideal|best|reserved"
            r"|right tool|good fit) (?:for|when|if|whenever|to)\b"
        ),
        (
            r"\b(?:is|are|be) (?:used|called|made)(?: only)? (?:for|when|if|whenever|to|after"
            r"|before|once)\b"
        ),
        r"\b(?:when|whenever|if) (?:you|the user|a user|an agent|somebody|someone) ",
    ),
    "when_not": (
        (
            r"\b(?:not|never|no reason) (?:to )?(?:be )?"
            r"(?:use[ds]?|call(?:ed)?|invoked?|run|reach for)\b(?! \w+ with\b)"
        ),
        r"\b(?:avoid|refrain from) (?:using|calling|invoking|running)\b",
        rf"\b(?:avoid|skip|leave) {_SELF}(?: tool)? (?:when|if|for|unless)\b",
        (
            r"\b(?:not|never) (?:suited|suitable|meant|intended|made|designed|appropriate"
            r"|recommended)\b"
        ),
        rf"\b(?:use|call|choose|prefer)\b.{{1,60}}\binstead\b|\binstead of {_SELF}\b",
        r"\b(?:wrong tool|out of scope|be avoided)\b|\b(?:not|never) (?:for|when|if)\b",
    ),
    "precedence": (
        r"\b(?:precedence|priority|priorities)\b",
        r"\b(?:wins?|beats?|outranks?|overrides?|supersedes?|shadows?|trumps)\b",
        r"\b(?:falls? back|fallback|preferred over|comes? first|in favou?r of)\b",
    ),
    "idempotency": (
        r"\bidempoten",
        r"\b(?:repeat(?:s|ed|ing)?|retr(?:y|ied|ies|ying))\b",
        (
            r"\b(?:call|called|calling|run|running)\b(?: \w+)? "
            r"(?:again|twice|repeatedly|more than once)\b"
        ),
        r"\b(?:second|another|further) (?:call|read|run|request)\b",
        r"\btwice\b.{1,60}\b(?:same|once|again|nothing|twice)\b",
        r"\bno (?:further|additional) effect\b|\bsame (?:result|effect|outcome) (?:each|every)\b",
        r"\b(?:each|every) call (?:creates|sends|adds|posts|makes|appends|starts|charges)\b",
    ),
    "limits": (
        r"\b(?:results?|answers?|it) (?:come|comes|fit|fits|is|are)\b.{0,20}\bpages?\b",
        r"\b(?:paging|paged|unpaged|pagination|paginated|quotas?|truncat\w+|capped)\b",
        (
            r"\b(?:at most|at the most|no more than|maximum|up to \d+|cut (?:off|at)|no limits?"
            r"|(?:longer|larger|bigger|more) than|exceed\w*|beyond \d+"
            r"|limited to|limits? (?:is|are|of)|rate[- ]limit\w*|next page|per page|page size"
            r"|no cursor)\b"
        ),
    ),
    "performance": (
        (
            r"\b(?:performance|cheap\w*|costly|(?:in)?expensive|sparing\w*|fast|faster|quick\w*|slow"
            r"|slower|latency|instant|lightweight|response time)\b"
        ),
        r"\bcosts? (?:nothing|little|much|about)\b|\bsafe to call (?:often|freely)\b",
        r"\b(?:(?:milli|micro)?seconds?|minutes|\d ?ms)\b",
    ),
    "good": (
        r"\b(?:good|correct|proper|recommended|right|valid) (?:use|usage|uses|calls?|examples?)\b",
        r"[✅✓✔👍]",
    ),
    "bad": (
        (
            r"\b(?:bad|incorrect|wrong|improper|poor|invalid|discouraged) "
            r"(?:use|usage|uses|call|calls|examples?)\b"
        ),
        r"\b(?:would be|is) (?:wrong|a mistake)\b|\bcommon mistake",
        r"[❌✗✘👎]",
    ),
}
_SPEECH = {topic: re.compile("|".join(patterns)) for topic, patterns in _SPOKEN.items()}
_BEHAVIOUR = frozenset(("precedence", "idempotency", "limits", "performance"))
_NEGATED = re.compile(r"\b(?:not|never|avoid|rather than|instead of|refrain from)(?: \w+){0,2} *$")
_OPENING_VERB = re.compile(
    r"\W{0,8}(?:\w{1,64} )?(?!(?:this|is|has|always|does|its|as)\b)[a-z]{2,40}s \w"
)

_BEHAVIOURS = re.compile(r"\b(?:precedence|idempoten|paging|pagination|performance)")
_APPLIES_NOT = re.compile(
    r"\b(?:not (?:applicable|apply|matter|relevant)|n/?a|none|no|neither|nothing|irrelevant)\b"
)
_ITS_OWN_NAME = re.compile(
    r"(?:purpose|when(?: not)? to use|arguments|precedence|priority|idempotency|paging|pagination"
    r"|limits?|performance|errors?(?: codes?)?|(?:good |bad )?usage)"
)
_UNFINISHED = re.compile(
    r"(?:<[^<>]*>|tbd|todo|fixme|tba|unknown|xxx+|coming soon|lorem ipsum.*|to be \w+(?: later)?"
    r"|(?:not |none |yet )*(?:documented|written|defined|described|specified|known)(?: yet)?)"
)
_ELSEWHERE = re.compile(
    r"(?<!to )\b(?:see|consult|refer to|look (?:in|at|up))\b(?: \w+){0,3} "
    r"(?:manual|handbook|docs?|documentation|readme|wiki|website|guide|elsewhere|specification)\b"
    r"|\b(?:is|are|as) (?:described|documented|explained|listed|defined) (?:in|elsewhere|at)\b"
)
_NOT_APPLICABLE = re.compile(
    r"(?:n/?a|none|no|nothing|not applicable|does not apply|do not apply|not relevant|irrelevant)"
)
_PUNCTUATION = " .,!?-\N{EN DASH}\N{EM DASH}"
_MUST_SPEAK = frozenset(("purpose", "when", "when_not"))

_CODE = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*\b|\b[45]\d\d\b|[`\"'{]|\b[a-z]+_[a-z_]+\b")
_CODE_IN_PROSE = re.compile(
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[A-Z]{5,}\b|\{\W{0,3}error|\b[45]\d\d\b"
)
_FAILING = re.compile(r"\b(?:errors?|error_codes?|fail(?:s|ed|ure|ures|ing)?|codes?|refused)\b")
_NO_ERRORS = re.compile(
    r"\b(?:never|cannot|can not|does not|do not) fails?\b|\bno (?:known )?errors?\b|\bnone\b"
    r"|\bn/?a\b|\bnot applicable\b|\bno error codes?\b|\bwithout errors\b"
)
_ACRONYMS = re.compile(r"\b(?:HTTP|HTTPS|URL|URI|JSON|API|SQL|ASCII|UTF|TODO|TBD|FIXME|XML|HTML)\b")


def uncovered(units: Sequence[Unit], name: str, arguments: frozenset[str]) -> tuple[str, ...]:
    """The topics, without `arguments`, that the text says nothing about."""
    covered = {topic for unit in units for topic in _covered(unit, name.lower(), arguments)}
    return tuple(topic for topic in TOPICS if topic not in covered and topic != "arguments")


def says_something(unit: Unit) -> bool:
    """False for headings, unfinished words and references to some other document."""
    words = long_form(unit.text.lower())
    return not (
        unit.heading
        or not re.search(r"\w", words)
        or _ITS_OWN_NAME.fullmatch(words.strip(_PUNCTUATION))
        or _UNFINISHED.fullmatch(words.strip(_PUNCTUATION))
        or _ELSEWHERE.search(words)
    )


def _covered(unit: Unit, name: str, arguments: frozenset[str]) -> Iterator[str]:
    """The topics that a sentence covers, by its section or by its words."""
    if not says_something(unit):
        return
    words = long_form(unit.text.lower())
    if name:
        words = words.replace(name, "this tool")
    yield from _by_section(unit, words)
    if _names_errors(unit, words):
        yield "errors"
    if unit.preamble and not unit.item and _OPENING_VERB.match(words):
        yield "purpose"
    for topic in () if _only_lists(words) else _may_speak_of(unit):
        said = _without(arguments, words) if topic in _BEHAVIOUR else words
        if _speaks_of(topic, said):
            yield topic


def _only_lists(words: str) -> bool:
    """True for a table of contents: it names behaviours without a word about any of them."""
    return len(set(_BEHAVIOURS.findall(words))) >= 3 and not _APPLIES_NOT.search(words)


def _by_section(unit: Unit, words: str) -> Iterator[str]:
    """What a section's words count for; one about two opposites needs words about each."""
    if unit.topics >= {"good", "bad"} or unit.topics >= {"when", "when_not"}:
        return
    void = _NOT_APPLICABLE.fullmatch(words.strip(_PUNCTUATION)) is not None
    yield from (t for t in unit.topics if t != "errors" and not (void and t in _MUST_SPEAK))


def _may_speak_of(unit: Unit) -> Iterable[str]:
    """An example or an error code is about nothing else, an argument about its limits at most."""
    if "bad" in unit.topics:
        return ("bad", "when_not", "good")
    if "arguments" in unit.topics and unit.listed:
        return ("limits",)
    if unit.topics & {"good", "errors"}:
        return ("good", "bad")
    return _SPEECH


def _speaks_of(topic: str, words: str) -> bool:
    if topic == "when":
        return any(
            not _NEGATED.search(words, max(0, found.start() - 40), found.start())
            for found in _SPEECH[topic].finditer(words)
        )
    return _SPEECH[topic].search(words) is not None


def _without(arguments: frozenset[str], words: str) -> str:
    """The words without the arguments' names: `limit` and `retry` say nothing of a behaviour."""
    return " ".join(word for word in words.split(" ") if word.strip("`\"'.,") not in arguments)


def _names_errors(unit: Unit, words: str) -> bool:
    text = _ACRONYMS.sub("", unit.text)
    if "errors" in unit.topics:
        label = unit.item and ":" in text
        return bool(label or _CODE.search(text) or _NO_ERRORS.search(words))
    if unit.topics & {"good", "bad", "arguments"} or not _FAILING.search(words):
        return False
    return bool(_CODE_IN_PROSE.search(text) or _NO_ERRORS.search(words))
