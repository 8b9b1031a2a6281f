"""What a usage text must speak about (AGN 7.2.1), and how to tell that it does.

A topic is covered by a section under one of its headings that says something, or by a sentence
anywhere that speaks of it. Sending the reader elsewhere ("see the manual") says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from toolstile.schema.usage_headings import TOPICS, long_form
from toolstile.schema.usage_text import Unit

_USE = r"(?:use|call|invoke|choose|pick|prefer|run|try|reach for)"
_SELF = r"(?:this tool|the tool|this|it|SELF)"
_SPOKEN = {
    "purpose": (
        r"\bthe (?:purpose|aim|goal) (?:of|is)\b",
        r"\b(?:is|are) (?:used|meant|designed) (?:to|for)\b",
        rf"^\W*{_SELF}\W{{0,2}}\s+[-–—:→]+ (?!usage)(?:\w+ ){{2}}\w+",
        r"^(?:an? )?(?:\w+ ){0,3}tool (?:that|which|to|for) \w+",
        r"\b(?:lets|allows|enables|helps) (?:you|the agent|an agent|agents|callers|users)\b",
        rf"(?<!not )(?<!never )\buse {_SELF} to \w+",
        rf"^\W*{_SELF}[`\"']?(?: tool)?(?: is a tool that)?[\s:—–-]+(?:\w+ly )?(?!{{0}}\b)[a-z]+s\b",
    ),
    "when": (
        rf"\b{_USE}\b(?: {_SELF})?(?: tool)?(?: only| always)?"
        r" (?:when|whenever|if|for|to|once|after|before|as soon as|where)\b",
        rf"\b{_USE} {_SELF}(?: tool)?[^.;]{{0,60}}? (?:when|whenever|if|once|after|before)\b",
        rf"\b(?:use|call)(?: {_SELF})?(?: tool)? only\b",
        r"\b(?:useful|helpful|suited|suitable|meant|intended|appropriate|ideal|best|reserved|right tool"
        r"|good fit) (?:for|when|if|whenever|to)\b",
        r"\b(?:is|are|be) (?:used|called|made)(?: only)? (?:for|when|if|whenever|to|after|before|once)"
        r"\b",
        r"\b(?:when|whenever|if) (?:you|the user|a user|an agent|somebody|someone) ",
    ),
    "when_not": (
        r"\b(?:not|never|no reason) (?:to )?(?:be )?"
        r"(?:use[ds]?|call(?:ed)?|invoked?|run|reach for)\b(?! \w+ with\b)",
        r"\b(?:avoid|refrain from) (?:using|calling|invoking|running)\b",
        rf"\b(?:avoid|skip|leave) {_SELF}(?: tool)? (?:when|if|for|unless)\b",
        r"\b(?:not|never) (?:suited|suitable|meant|intended|made|designed|appropriate"
        r"|recommended)\b",
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
        r"\b(?:call|called|calling|run|running)\b(?: \w+)? (?:again|twice|repeatedly|more than once)\b",
        r"\b(?:second|another|further) (?:call|read|run|request)\b",
        r"\btwice\b.{1,60}\b(?:same|once|again|nothing|twice)\b",
        r"\bno (?:further|additional) effect\b|\bsame (?:result|effect|outcome) (?:each|every)\b",
        r"\b(?:each|every) call (?:creates|sends|adds|posts|makes|appends|starts|charges)\b",
    ),
    "limits": (
        r"\b(?:results?|answers?|it) (?:come|comes|fit|fits|is|are)\b.{0,20}\bpages?\b",
        r"\b(?:paging|paged|unpaged|pagination|paginated|quotas?|truncat\w+|capped)\b",
        r"\b(?:at most|at the most|no more than|maximum|up to \d+|cut (?:off|at)|no limits?"
        r"|(?:longer|larger|bigger|more) than|exceed\w*|beyond \d+"
        r"|limited to|limits? (?:is|are|of)|rate[- ]limit\w*|next page|per page|page size|no cursor)\b",
    ),
    "performance": (
        r"\b(?:performance|cheap\w*|costly|(?:in)?expensive|sparing\w*|fast|faster|quick\w*|slow"
        r"|slower|latency|instant|lightweight|response time)\b",
        r"\bcosts? (?:nothing|little|much|about)\b|\bsafe to call (?:often|freely)\b",
        r"\b(?:(?:milli|micro)?seconds?|minutes|\d ?ms)\b",
    ),
    "good": (
        r"\b(?:good|correct|proper|recommended|right|valid) (?:use|usage|uses|call|calls|examples?)\b",
        r"[✅✓✔👍]",
    ),
    "bad": (
        r"\b(?:bad|incorrect|wrong|improper|poor|invalid|discouraged) "
        r"(?:use|usage|uses|call|calls|examples?)\b",
        r"\b(?:would be|is) (?:wrong|a mistake)\b|\bcommon mistake",
        r"[❌✗✘👎]",
    ),
}  # fmt: skip
_NOT_DOING = "is|was|has|does|needs|takes (?:\\w+ )?(?:arguments?|parameters?)|requires|accepts|returns (?:an? )?error|fails"
_NEGATED = re.compile(r"\b(?:not|never|avoid|rather than|instead of|refrain from)(?: \w+){0,2} *$")
_OPENING_VERB = re.compile(
    r"\W{0,8}(?:\w{1,64} )?(?!(?:this|is|has|always|does|its|as)\b)[a-z]{2,40}s \w"
)

_UNFINISHED = re.compile(
    r"(?:tbd|todo|fixme|tba|unknown|xxx+|coming soon|lorem ipsum.*|to be \w+(?: later)?"
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
_MUST_SPEAK = frozenset(("purpose", "when", "when_not"))

_CODE = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*\b|\b[45]\d\d\b|[`\"'{]|\b[a-z]+_[a-z_]+\b")
_CODE_IN_PROSE = re.compile(
    r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[A-Z]{5,}\b|\{\W{0,3}error|\b[45]\d\d\b"
)
_FAILING = re.compile(r"\b(?:errors?|error_codes?|fail(?:s|ed|ure|ures|ing)?|codes?|refused)\b")
_NO_ERRORS = re.compile(
    r"\b(?:never|cannot|can not|does not|do not) fails?\b|\bno (?:known )?errors?\b|\bnone\b|\bn/?a\b"
    r"|\bnot applicable\b|\bno error codes?\b|\bwithout errors\b"
)
_ACRONYMS = re.compile(r"\b(?:HTTP|HTTPS|URL|URI|JSON|API|SQL|ASCII|UTF|TODO|TBD|FIXME|XML|HTML)\b")
_SECTIONS_APART = frozenset(("errors", "good", "bad", "arguments"))


def uncovered(units: Sequence[Unit], name: str, arguments: frozenset[str]) -> tuple[str, ...]:
    """The topics, without `arguments`, that the text says nothing about."""
    speech = _Speech(name, arguments)
    covered = {topic for unit in units for topic in speech.topics(unit)}
    return tuple(topic for topic in TOPICS if topic not in covered and topic != "arguments")


def says_something(unit: Unit) -> bool:
    """False for headings, unfinished words and references to some other document."""
    words = _words(unit.text)
    return not (
        unit.heading
        or not re.search(r"\w", words)
        or _UNFINISHED.fullmatch(words.strip(" .?!-–—"))
        or _ELSEWHERE.search(words)
    )


def _words(text: str) -> str:
    return long_form(text.lower())


class _Speech:
    """Recognises topics in the sentences of one tool's usage text."""

    def __init__(self, name: str, arguments: frozenset[str]) -> None:
        self.arguments = arguments
        self_name = re.escape(name.lower()) or "-"
        self.patterns = {
            topic: re.compile(
                "|".join(patterns).replace("SELF", self_name).replace("{0}", f"(?:{_NOT_DOING})")
            )
            for topic, patterns in _SPOKEN.items()
        }

    def topics(self, unit: Unit) -> Iterator[str]:
        """The topics this sentence covers, by its section or by its words."""
        if not says_something(unit):
            return
        words = _words(unit.text)
        void = _NOT_APPLICABLE.fullmatch(words.strip(" .!")) is not None
        if not unit.topics >= {"good", "bad"} and not unit.topics >= {"when", "when_not"}:
            yield from (t for t in unit.topics - {"errors"} if not (void and t in _MUST_SPEAK))
        if self._names_errors(unit, words):
            yield "errors"
        if unit.preamble and _opens_with_purpose(unit, words):
            yield "purpose"
        for topic, pattern in self.patterns.items():
            if topic in _allowed(unit) and self._spoken(topic, pattern, words):
                yield topic

    def _spoken(self, topic: str, pattern: re.Pattern[str], words: str) -> bool:
        if topic == "when":
            return any(
                not _NEGATED.search(words, max(0, found.start() - 40), found.start())
                for found in pattern.finditer(words)
            )
        if topic in ("precedence", "limits", "performance", "idempotency"):
            words = " ".join(w for w in words.split(" ") if w.strip("`\"'.,") not in self.arguments)
        return pattern.search(words) is not None

    def _names_errors(self, unit: Unit, words: str) -> bool:
        text = _ACRONYMS.sub("", unit.text)
        if "errors" in unit.topics:
            label = unit.item and ":" in text
            return bool(label or _CODE.search(text) or _NO_ERRORS.search(words))
        if unit.topics & {"good", "bad", "arguments"} or not _FAILING.search(words):
            return False
        return bool(_CODE_IN_PROSE.search(text) or _NO_ERRORS.search(words))


def _allowed(unit: Unit) -> frozenset[str]:
    """What a sentence may speak of: an example or an error code is about nothing else."""
    if "bad" in unit.topics:
        return frozenset(("bad", "when_not", "good"))
    if "arguments" in unit.topics and unit.listed:
        return frozenset(("limits", "good", "bad"))
    if unit.topics & {"good", "errors"}:
        return frozenset(("good", "bad"))
    return frozenset(_SPOKEN)


def _opens_with_purpose(unit: Unit, words: str) -> bool:
    return not unit.item and _OPENING_VERB.match(words) is not None
