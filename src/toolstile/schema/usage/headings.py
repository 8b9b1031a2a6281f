"""The words under which authors write about each topic of a usage text.

A heading is known by its words, not by its mark-up: Markdown, capitals, a label before a colon, a
tag or a question all end here as plain lower-case words.
"""

from __future__ import annotations

import re

_SELF = r"(?: (?:it|this|one|this tool|the tool))?"
_CASE = r"(?: (?:usages?|uses?|calls?|examples?|practices?|requests?|arguments))*"
_WHO = r"(?:i|you|it|one|this|this tool|the tool)"
_USED = r"(?: (?:be )?(?:used?|call(?:ed)?|invoked?|choose))?"

_VOCABULARY = {
    "purpose": (
        r"(?:primary |main |core )?(?:purpose|intent|goal|aim)(?: of .*)?",
        r"overview|summary|description|about" + _SELF,
        r"what (?:does )?(?:it|this|this tool|the tool|\w+) (?:does|do|is|is for)",
        r"what is (?:it|this|this tool) for",
    ),
    "when_not": (
        r"when(?: (?:should|must|can) " + _WHO + r")? not(?: to)?" + _USED + _SELF,
        r"(?:do not|never|not to|not) (?:be )?(?:used?|call(?:ed)?|invoked?)"
        + _SELF
        + r"(?: (?:when|if|for|to))?",
        r"not (?:for|when|if)",
        r"not (?:recommended|suitable|suited|intended|meant|appropriate)(?: for| when| if)?",
        r"avoid(?: using)?" + _SELF + r" (?:when|if|for)",
        r"avoid using" + _SELF,
        r"skip" + _SELF + r" (?:when|if)",
        r"out of scope|non goals?|unsuitable(?: for| when)?",
    ),
    "when": (
        r"when(?: (?:should|do|can) " + _WHO + r")?(?: to)?" + _USED + _SELF,
        r"(?:use|call|invoke|choose)" + _SELF + r" (?:when|if|for|to|after|before)",
        (
            r"(?:best|good|useful|suitable|suited|recommended|appropriate|intended)(?: used)?"
            r" (?:for|when|if)"
        ),
        r"use cases?|used for|in scope|scope",
    ),
    "arguments": (
        (
            r"(?:what are |how to (?:fill in|fill|build|construct|write|give) )?(?:the |its )?"
            r"(?:input |required |mandatory |optional |tool )?"
            r"(?:arguments?|args|parameters?|params|inputs?)"
        ),
        (
            r"(?:which|what) (?:arguments|parameters|inputs)"
            r"(?: (?:does it|does this tool|to|can i) \w+)?"
        ),
        r"(?:building|constructing|filling in|writing)(?: the)? arguments|argument construction",
        r"(?:required|mandatory|optional)(?: fields)?",
    ),
    "precedence": (
        r"(?:order |rules )?(?:of )?(?:precedence|priority|priorities)(?: rules?| order)?",
        r"resolution order|order of resolution|conflicts?|conflict resolution",
        (
            r"(?:what|which|who)(?: \w+)?"
            r" (?:takes precedence|takes priority|has priority|wins)(?: (?:when|if) .*)?"
        ),
    ),
    "idempotency": (
        r"(?:is it )?idempoten(?:t|ce|cy)(?: expectations?)?",
        r"retry|retries|retrying|repeat|repeats|repeating|repeatability|repeated calls?",
        r"(?:repeating|retrying) (?:a|the) calls?|(?:is it )?safe to (?:retry|repeat)",
        r"can (?:it|a call) be (?:repeated|retried)",
    ),
    "limits": (
        (
            r"(?:are there |any )*(?:paging|paged|pagination|limits?|limitations|quotas?|bounds"
            r"|(?:rate|size|result|page|usage) (?:limits?|sizes?|limiting))(?: behaviou?r)?"
        ),
        r"is (?:it|the result|the answer) paged|how much(?: at once)?",
    ),
    "performance": (
        r"performance(?: considerations?| notes?)?|costs?|latency|speed|timing|running time",
        r"how (?:fast|slow|expensive|often|costly)(?: (?:is|to|can|may|should) .*)?",
    ),
    "errors": (
        (
            r"(?:known |possible |expected |which |what )*(?:errors?|failures?|error codes?"
            r"|error shapes?|failure modes?|error handling)(?: returned| reported)?"
        ),
        r"(?:which|what) errors? (?:can|may|could|might) (?:occur|happen|be returned)",
        r"(?:on|in case of) (?:an )?(?:errors?|failures?)|what can go wrong",
        r"(?:if|when) (?:it fails|(?:something|it|things) (?:goes|go) wrong)",
    ),
    "good": (
        r"(?:what is |what does )?(?:a )?(?:good|correct|right|recommended|proper|valid)"
        + _CASE
        + r"(?: look like)?",
        r"examples? (?:of )?(?:an? )?(?:good|correct|right)" + _CASE,
        r"do|do this|examples?|(?:usage|sample|prompt) examples?|example" + _CASE,
    ),
    "bad": (
        r"(?:what is |what does )?(?:a )?(?:bad|incorrect|wrong|discouraged|improper|invalid|poor)"
        + _CASE
        + r"(?: look like)?",
        r"examples? (?:of )?(?:an? )?(?:bad|incorrect|wrong)" + _CASE,
        r"do not|do not do(?: this)?|avoid|misuse|(?:common )?(?:mistakes|pitfalls)",
        r"anti ?patterns?|counter ?examples?",
    ),
    "": (  # headings that end a section without beginning one of ours
        r"rules?|notes?|behaviou?r|returns?|outputs?|results?|response|return value|see also",
        r"usage(?: guide)?|remarks?|warnings?|tips?|permissions?|(?:side )?effects?|caveats?",
        r"hints?|security|important|background|topics?",
    ),
}
TOPICS = tuple(topic for topic in _VOCABULARY if topic)
_LABELS = tuple((topic, re.compile("|".join(words))) for topic, words in _VOCABULARY.items())

_ABOUT = tuple(
    (topic, re.compile(words))
    for topic, words in {
        "purpose": r"\bpurpose\b|\bwhat .*\bdo(?:es)?\b",
        "when_not": r"\b(?:not|never)\b.*\b(?:use|call|invoke|used|called)\b",
        "when": r"\bwhen\b.*\b(?:use|call|invoke|used|called|right)\b",
        "arguments": r"\b(?:arguments?|parameters?)\b",
        "precedence": r"\b(?:precedence|priority)\b",
        "idempotency": r"\b(?:idempoten\w+|retr(?:y|ies|ying)|repeat\w*)\b",
        "limits": r"\b(?:paging|pagination|limits?|quotas?)\b",
        "performance": r"\b(?:performance|latency|costs?)\b",
        "errors": r"\b(?:errors?|failures?)\b",
        "good": r"\b(?:good|correct)\b",
        "bad": r"\b(?:bad|incorrect|mistakes?)\b",
    }.items()
)

_LEADING = re.compile(r"^(?:an? )?(?:(?:note|word|remark)s? )(?:on|about) ")
_SHORT = re.compile(r"\b(?:(do|does|should|must|is|are)n[' ]?t|(can)(?:[' ]?t|not))\b")
_JOINTS = re.compile(r"\s*(?:[,/&+]|\band\b|\bor\b)\s*")
_LONGEST = 80


def topics_of(label: str) -> frozenset[str] | None:
    """The topics that a label announces, none of ours perhaps; None where it is no label."""
    if len(label) > _LONGEST:
        return None
    words = _words(label)
    whole = _topic(words)
    if whole is not None:
        return frozenset((whole,)) - {""}
    parts = [_topic(part) for part in _JOINTS.split(words)]
    if None in parts:
        return None
    return frozenset(part for part in parts if part)


def topics_about(heading: str) -> frozenset[str]:
    """The topics of what is surely a heading, however it is worded; perhaps none."""
    known = topics_of(heading)
    if known is not None:
        return known
    found = frozenset(topic for topic, about in _ABOUT if about.search(_words(heading)))
    return found - {"when"} if "when_not" in found else found


def _words(text: str) -> str:
    words = re.sub(r"[\s_*`\"()-]+", " ", long_form(text.lower())).strip()
    return _LEADING.sub("", words)


def long_form(words: str) -> str:
    """The words with "don't", "cannot" and the like written out."""
    return _SHORT.sub(lambda found: f"{found[1] or found[2]} not", words)


def _topic(words: str) -> str | None:
    return next((topic for topic, label in _LABELS if label.fullmatch(words)), None)
