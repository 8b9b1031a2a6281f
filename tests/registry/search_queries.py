"""Queries as a hurried reader would type them, made mechanically from tool definitions.

Each takes two to four salient words of one tool and spoils exactly one: by a typo or by an
everyday synonym. The thesaurus below is the test's own, general English, not read from the
product's table. A query is asked only if its unspoilt words name their tool: at most three
differently named tools may contain them all.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import corpus, records
from toolstile.registry.search import SearchEntry, SearchIndex

THESAURUS = """
accept approve| account profile| add append| address location| adjust tweak| airplane aircraft
alert warning| amount quantity| answer reply| apartment flat| appointment meeting| area region
arrange organise| arrival landing| article essay| ask enquire| assign allocate| attach fasten
attraction sight| automobile car| available free| average mean| balance remainder| begin start
big large| bill invoice| block ban| book reserve| booking reservation| boundary border
brief short| build construct| business company| buy purchase| calculate compute| call phone
cancel abort| category class| change modify| charge fee| cheap inexpensive| check verify
choose select| city town| clean tidy| client customer| close shut| combine merge| comment remark
compare contrast| complete finish| connect link| convert turn| cost price| country nation
create make| currency money| current present| customer shopper| data information| delete remove
delivery shipment| demand request| describe explain| destination endpoint| detail particular
determine establish| device gadget| difference gap| direction heading| directory folder
discount reduction| display show| distance length| divide split| document file| download fetch
drug medicine| earn gain| edit revise| email mail| employee worker| end stop| enable activate
error mistake| estimate guess| event occasion| exact precise| examine inspect| fast quick
fetch get| film movie| filter sieve| find locate| flight plane| folder directory| food meal
forecast prediction| function routine| game match| generate produce| get obtain| give provide
group team| growth increase| height altitude| help assist| history past| hotel inn| house home
identify recognise| illness disease| image picture| income earnings| information details
initial first| insert add| interest stake| invite ask| item thing| job task| keep retain
kind type| language tongue| latest newest| launch start| lawyer attorney| learn study
length duration| list enumerate| location place| look search| lookup find| market bazaar
mass weight| maximum highest| message note| minimum lowest| modify alter| money cash| movie film
multiply times| music tune| name title| nearby close| new fresh| news headlines| number figure
obtain get| open unlock| option choice| order purchase| parcel package| path route| pay settle
payment remittance| people persons| phone telephone| photo picture| picture image| place spot
plan scheme| play perform| player athlete| plot draw| population inhabitants| position post
post publish| predict forecast| price cost| print output| produce make| product goods
project undertaking| provide supply| purchase buy| query question| question query| quick rapid
rate ratio| read peruse| recent latest| recipe instructions| recipient receiver
recommend suggest| record entry| refund repayment| register enrol| reminder prompt| remove delete
rename retitle| rent hire| repair fix| replace swap| reply answer| report account| request ask
reserve book| resident inhabitant| restaurant eatery| result outcome| retrieve fetch| return give
review critique| ride lift| road street| room chamber| route path| rule regulation| salary wage
save store| schedule timetable| school academy| score points| search find| select choose
send dispatch| sentence phrase| server host| set put| share distribute| shop store| show display
size dimension| solve resolve| song tune| specific particular| speed velocity| start begin
status state| stock share| stop halt| store keep| story tale| street road| student pupil
sum total| summary digest| talk speak| task job| teacher instructor| team squad| temperature heat
test trial| text wording| ticket pass| time hour| title heading| tool instrument| total sum
track follow| train railway| transfer move| translate interpret| travel journey| trip journey
update refresh| upload send| use employ| user member| value worth| vehicle car| verify confirm
video clip| view see| visit tour| weather climate| website site| weight heaviness| work labour
worker employee| write compose| year twelvemonth
"""


def _pairs() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in THESAURUS.strip().replace("\n", "|").split("|"):
        one, other = pair.split()
        table.setdefault(one, []).append(other)
    return table


SYNONYMS = _pairs()
# A description's word is salient if at most one tool in so many holds it.
COMMON_SHARE = 20
# A query is fair if no more tools than are looked at hold all its words.
MOST_ALIKE = 3

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_COMMON = frozenset(
    "a about above after all also an and any are as at be been before being both but by can did do "
    "does each for from had has have he her here him his how i if in into is it its like may more "
    "most must my no nor not of on one only or other our out over own per same shall she should so "
    "some such than that the their them then there these they this those through to under until up "
    "upon us use used uses using via was we were what when where whether which while who whom why "
    "will with within would you your".split()
)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A spoilt query, the tool it was made from, and how it was spoilt."""

    text: str
    wanted: str
    spoilt: str


def content_words(text: str) -> list[str]:
    """The distinct words of a text that carry meaning, in order."""
    split = re.sub(r"([a-z])([A-Z])|_", r"\1 \2", text)
    found = (word.lower() for word in re.findall(r"[A-Za-z]+", split))
    return list(dict.fromkeys(w for w in found if len(w) > 2 and w not in _COMMON))


def typo(word: str, dice: random.Random) -> str:
    """The word with one slip of the fingers."""
    at = dice.randrange(len(word))
    letter = dice.choice(_LETTERS)
    slips = {
        "insert": word[:at] + letter + word[at:],
        "delete": word[:at] + word[at + 1 :],
        "substitute": word[:at] + letter + word[at + 1 :],
        "transpose": word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
    }
    return slips[dice.choice(sorted(slips))]


def queries(tools: Mapping[str, str], seed: int) -> Iterator[Query]:
    """Endless spoilt queries over tools given as name → description."""
    dice = random.Random(seed)
    names = sorted(tools)
    texts = {name: frozenset(content_words(f"{name} {tools[name]}")) for name in names}
    holders = Counter(word for text in texts.values() for word in text)
    while True:
        wanted = dice.choice(names)
        kind = dice.choice(("synonym", "typo"))
        salient = [
            word
            for word in content_words(tools[wanted][:300])
            if holders[word] * COMMON_SHARE <= len(names)
        ]
        picked = _pick(content_words(wanted), salient, dice)
        if sum(texts[name].issuperset(picked) for name in names) > MOST_ALIKE:
            continue
        text = _spoil(picked, kind, dice)
        if text is not None:
            yield Query(text=text, wanted=wanted, spoilt=kind)


def _pick(named: Sequence[str], salient: Sequence[str], dice: random.Random) -> list[str]:
    size = dice.randint(2, 4)
    first = dice.sample(named, min(len(named), dice.randint(1, 2)))
    rest = [word for word in salient if word not in named]
    return first + dice.sample(rest, min(len(rest), size - len(first)))


def _spoil(picked: Sequence[str], kind: str, dice: random.Random) -> str | None:
    fit = [word for word in picked if (len(word) > 3 if kind == "typo" else word in SYNONYMS)]
    if not fit:
        return None
    word = dice.choice(fit)
    instead = typo(word, dice) if kind == "typo" else dice.choice(SYNONYMS[word])
    return None if instead == word else " ".join(instead if w == word else w for w in picked)


def corpus_entries() -> dict[str, SearchEntry]:
    """The tools of the corpora by name; of several of one name the first, as in a registry."""
    folders = ("agentdojo", "bfcl", "mcp-servers", "tau2")
    files = [corpus(folder, "toolcalls.jsonl.gz") for folder in folders]
    files += [corpus(folder, "tools.jsonl.gz") for folder in ("agentdojo", "tau2")]
    entries: dict[str, SearchEntry] = {}
    for record in (record for file in files for record in records(file)):
        tool = record.get("tool", record)
        entries.setdefault(tool["name"], _entry(record, tool))
    return entries


def _entry(record: Mapping[str, Any], tool: Mapping[str, Any]) -> SearchEntry:
    category = record.get("category") or record.get("suite") or record.get("domain") or ""
    properties = (tool.get("parameters") or {}).get("properties", {})
    keywords = [
        word
        for name, schema in properties.items()
        for word in (name, *str(schema.get("description", "")).split())
    ]
    return SearchEntry(
        name=tool["name"],
        description=tool.get("description") or "",
        category=category,
        keywords=tuple(keywords),
    )


def misses(entries: Mapping[str, SearchEntry], seed: int, count: int) -> list[Query]:
    """The queries of which neither the tool nor one described alike is among the first three."""
    index = SearchIndex(entries.values())
    tools = {name: entry.description for name, entry in entries.items()}
    return [
        query
        for query in islice(queries(tools, seed), count)
        if tools[query.wanted] not in {tools[hit.name] for hit in index.search(query.text, 3)}
    ]


def main(seeds: int = 10, count: int = 200) -> None:
    """Print the share of queries that find their tool, each seed with queries of its own."""
    entries = corpus_entries()
    shares = [1 - len(misses(entries, seed, count)) / count for seed in range(seeds)]
    print(
        f"search: {len(entries)} tools, {seeds} x {count} queries with a typo or a synonym, right"
        f" tool in the first three: {sum(shares) / seeds:.1%} (worst seed {min(shares):.1%})"
    )
    sys.exit(min(shares) < 0.95)


if __name__ == "__main__":
    main()
