"""Record what a real ECMA-262 engine (node) makes of generated patterns.

    python tests/schema/record_ecma_patterns.py > tests/schema/data/ecma_patterns.jsonl

One line for each pattern: `flags` is "u", or "" where only Annex B's grammar takes the pattern, or
absent where neither does; `matches` and `misses` are strings that were tried. The same seed gives
the same lines, so a fresh sample needs another: `record_ecma_patterns.py SEED COUNT`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

SEED, COUNT, STRINGS = 262, 2400, 6
DEPTH = 3
LONGEST = 12
# node backtracks: some of these patterns would take it minutes even on so few characters.
LINEAR = ["--enable-experimental-regexp-engine-on-excessive-backtracks"]

NODE = r"""
const lines = require('fs').readFileSync(0, 'utf8').split('\n').filter(line => line);
for (const line of lines) {
  const {pattern, strings} = JSON.parse(line);
  let regexp, flags;
  for (const tried of ['u', '']) {
    try { regexp = new RegExp(pattern, tried); flags = tried; break; } catch (error) { }
  }
  if (regexp === undefined) { console.log(JSON.stringify({pattern})); continue; }
  const matches = strings.filter(string => regexp.test(string));
  const misses = strings.filter(string => !regexp.test(string));
  console.log(JSON.stringify({pattern, flags, matches, misses}));
}
"""

# Characters that the two dialects, or bytes and characters, may disagree on. All are older than
# the Unicode versions of either engine.
CHARACTERS = (
    "aAbzZ059_-.:@/ \"'#&~%,;=<>!`\t\n\r\x00\x08\x0b\x0c\x1f\x7f\x85\xa0éßſK\u0130\u01c5\u0660"
    "\u180e\u1680\u2003\u2028\u2029\u202f\u3000\ufeff\ud7ff\ue000\ufffd\uffff€中\U0001f600\U0010ffff"
)
BMP = "".join(character for character in CHARACTERS if character < "\U00010000")

# Atoms with one meaning each, and characters that each matches (if it is that easy to say).
ATOMS = {
    ".": "aé\U0001f600",
    r"\d": "05",
    r"\D": "a\u0660",
    r"\w": "aZ9_",
    r"\W": "-éſK",
    r"\s": "\t\xa0\u2028\ufeff",
    r"\S": "a\x85\u180e",
    r"\t": "\t",
    r"\v": "\x0b",
    r"\0": "\x00",
    r"\cJ": "\n",
    r"\cz": "\x1a",
    r"\x41": "A",
    r"\u00e9": "é",
    r"\u{1F600}": "\U0001f600",
    r"\u{00000061}": "a",
    r"\uD83D\uDE00": "\U0001f600",
    r"\ud83d\ude00": "\U0001f600",
    r"\/": "/",
    r"\.": ".",
    r"\$": "$",
    r"\^": "^",
    r"\(": "(",
    r"\)": ")",
    r"\[": "[",
    r"\]": "]",
    r"\{": "{",
    r"\}": "}",
    r"\|": "|",
    r"\\": "\\",
    r"\*": "*",
    r"\+": "+",
    r"\?": "?",
    r"\p{L}": "aé中",
    r"\P{L}": "0_",
    r"\p{Lu}": "AZ",
    r"\p{Letter}": "a",
    r"\p{gc=Nd}": "0\u0660",
    r"\p{Script=Latin}": "aé",
    r"\p{sc=Han}": "中",
    r"\p{scx=Latn}": "a",
    r"\p{ASCII}": "a\x7f",
    r"\p{Any}": "a\U0010ffff",
    r"\p{Alphabetic}": "aß",
    r"\p{White_Space}": " \x85",
    r"\p{Emoji_Presentation}": "\U0001f600",
    "é": "é",
    "€": "€",
    "中": "中",
    "\U0001f600": "\U0001f600",
    "&": "&",
    "~": "~",
    "#": "#",
    " ": " ",
    "\n": "\n",
    "a": "a",
    "b": "b",
    "Z": "Z",
    "0": "0",
    "-": "-",
    "_": "_",
    ":": ":",
    ",": ",",
    "<": "<",
    "=": "=",
    "!": "!",
    "'": "'",
    '"': '"',
    "@": "@",
    "%": "%",
    "]": "]",
    "}": "}",
    "{": "{",
    r"\-": "-",
    r"\_": "_",
    r"\@": "@",
    r"\"": '"',
    r"\'": "'",
    r"\:": ":",
    r"\ ": " ",
    r"\#": "#",
    r"\&": "&",
    r"\<": "<",
    r"\é": "é",
}
MEMBERS = [atom for atom in ATOMS if atom not in ("]", ".", "-")] + [
    *(".", "-", "a-z", "0-9", "A-z", " -~", "--/", r"\0-\x1f", r"\u0000-\uffff", "à-ü", "+--"),
    *(
        r"\u{0}-\u{10FFFF}",
        r"\b",
        "[",
        "^",
        "&&",
        "--",
        "~~",
        "[:alpha:]"[:-1],
        "a-c-e",
        r"\w-",
        "(|)",
    ),
    *(r"\w-.", r"a-\d", "\ud7ff-\ue000", "*", "+", "?", "$", "|", "{2}", "\\u2000-\\u3000"),
]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0}", "{1,}", "{0,2}", "{1,3}", "*?", "+?", "??", "{1,2}?"]
EDGES = ["^", "$", r"\b", r"\B"]
# Patterns that no generator would think of; most of them mean something elsewhere.
CORNERS = r"""
[] [^] []] [^]] [a&&b] [a--b] [a~~b] [[a]] [[:alpha:]] [a-] [-a] [^-a] [a\-z] [\w-] [z-a] [\d-\w]
(?i)a (?i:a) (?s:.) (?m)^a (?-i:a) (?P<n>a) (?P=n) (?<n>a) (?<n>a)(?<n>b) (?<n>a)\k<n> (?#x)a
(?>a) (?=a) (?!a) (?<=a) (?<!a) (?=a)* (a)\1 \1 \01 \00 \08 (?'n'a) (?|a) (?&n) (?R) (?:a (a a) ()
(?:) (|) \A \z \Z \h \H \Q \E \a \e \G \K \R \X \N \i \m \y \u \u1 \u{} \u{110000} \u{1F600} \u{
61} \x \x1 \x{41} \c \c1 \c_ \cA [\c] [\cA] [\B] [\b] [\k] [\1] [\00] \p \p{} \pL \p{l} \p{greek}
\p{Greek} \p{Script=greek} \p{Script=Nonsense} \p{Lx} \p{IsL} \p{^L} \P{^L} \p{gc!=L} \p{L=}
\p{sc=} \p{L \p{Any} \ud83d \ude00 \ude00\ud83d [\ud83d] [\ud800-\udfff] [^\ud800-\udbff]
\ud83d\u{de00} a** a++ a?+ a{2}+ a{2}{3} a{2,1} a{,3} a{,} a{ a{1 a{1, a{1,2 a{a} a{-1} a{1,2}}
{1} {,1} { } ] a} a] ^* $+ \b? \B{2} (?:^)* (?:$)+ (?:\b)* ^^a $$ a|* |a a| || ( ) (? (?) (?< (?<a
(?<> (?<1>a) (?<a-b>a) (?<$_>a) \ a\ [ [^ [a [\ [a- [a-\ [\]] [\[] ^[^^]$ ^[$]$ ^.$ ^[.]$ a$b a^b
^$ $^ (a*)* (a*)+ (a?){3} (?:){9} a{0} ^\cc$ ^\cC$ \/ \- \_ \% \" ^\p{digit}+$ \p{L}\P{L}
[\p{L}\P{L}] [^\p{L}\P{L}] [^\P{L}] ^[^\S\s]$ \s\S (a|ab)(c|bcd)(d*) ((a)|(b))+ (?:a|b){2,3}c
x{0,0} [\s\S] [\d\D]+ [^\d\D] [\w\W] [+--] [--+] [!--] [\--/] a{,b} a{,b {,} (?<n>a)|(?<n>b)
""".split()
TOKENS = [*ATOMS, *QUANTIFIERS, *EDGES, *CORNERS, *"()[]{}|^$*+?.\\-,", "(?:", "[^"]

Sampler = Callable[[], str]


class Generator:
    """Random patterns, each with a way to make strings that probably match it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pattern(self) -> tuple[str, Sampler]:
        """Mostly well-formed patterns; some are corners, and some a heap of tokens."""
        kind = self.random.random()
        if kind < 0.1:
            return self.random.choice(CORNERS), str
        if kind < 0.2:
            tokens = self.random.choices(TOKENS, k=self.random.randint(1, 4))
            return "".join(tokens), lambda: self.random.choice(tokens)
        text, sample = self.choice(DEPTH)
        start, end = self.random.choice([("", ""), ("^", ""), ("", "$"), ("^(?:", ")$")])
        return f"{start}{text}{end}", sample

    def choice(self, depth: int) -> tuple[str, Sampler]:
        options = [self.sequence(depth) for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        texts, samples = zip(*options, strict=True)
        return "|".join(texts), lambda: str(self.random.choice(samples)())

    def sequence(self, depth: int) -> tuple[str, Sampler]:
        terms = [self.term(depth) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        return "".join(text for text, _ in terms), lambda: "".join(sample() for _, sample in terms)

    def term(self, depth: int) -> tuple[str, Sampler]:
        if self.random.random() < 0.12:
            return self.random.choice(EDGES), str
        text, sample = self.atom(depth)
        if self.random.random() < 0.6:
            return text, sample
        quantifier = self.random.choice(QUANTIFIERS)
        return text + quantifier, lambda: "".join(
            sample() for _ in range(self.random.randint(0, 3))
        )

    def atom(self, depth: int) -> tuple[str, Sampler]:
        kind = self.random.random()
        if kind < 0.3 and depth:
            text, sample = self.choice(depth - 1)
            return self.random.choice(["(", "(?:"]) + text + ")", sample
        if kind < 0.6:
            members = self.random.choices(MEMBERS, k=self.random.randint(1, 4))
            letters = "".join(ATOMS.get(member, member[-1]) for member in members)
            return f"[{self.random.choice(['', '', '^'])}{''.join(members)}]", self.letter(letters)
        text = self.random.choice(list(ATOMS))
        return text, self.letter(ATOMS[text])

    def letter(self, letters: str) -> Sampler:
        return lambda: self.random.choice(letters)

    def string(self, sample: Sampler, characters: str) -> str:
        """A probable match, or one with a blemish, or anything."""
        text = sample()
        if self.random.random() < 0.5:
            at = self.random.randint(0, len(text))
            noise = "".join(self.random.choices(characters, k=self.random.randint(0, 2)))
            text = text[:at] + noise + text[at + self.random.randint(0, 1) :]
        return "".join(
            letter for letter in text if letter in characters or letter in "$^()[]{}|\\*+?"
        )


def needs_unicode(pattern: str) -> bool:
    """Whether the pattern reads differently, not just more strictly, under the `u` flag."""
    return any(mark in pattern for mark in (r"\u{", r"\p", r"\P", r"\ud", r"\uD")) or any(
        character > "\uffff" for character in pattern
    )


def questions(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Patterns with strings to try on them."""
    generator = Generator(seed)
    corners: list[tuple[str, Sampler]] = [(corner, str) for corner in CORNERS]
    for pattern, sample in corners + [generator.pattern() for _ in range(count)]:
        tries = {generator.string(sample, CHARACTERS) for _ in range(STRINGS)}
        yield {"pattern": pattern, "strings": sorted(tries | set(generator.random.sample(BMP, 2)))}


def answers(seed: int = SEED, count: int = COUNT) -> Iterator[dict[str, Any]]:
    """What node makes of them; without `u`, only of text where that is the same question."""
    lines = "\n".join(json.dumps(question) for question in questions(seed, count))
    run = subprocess.run(
        ["node", *LINEAR, "-e", NODE],
        input=lines,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for line in run.stdout.strip().split("\n"):  # splitlines() would split at U+2028 too
        answer = json.loads(line)
        if answer.get("flags") != "u" and needs_unicode(answer["pattern"]):
            continue
        if answer.get("flags") == "":
            for key in ("matches", "misses"):
                answer[key] = [text for text in answer[key] if max(text, default="") < "\U00010000"]
        yield answer


def main() -> None:
    """Write the lines to standard output."""
    for answer in answers(*map(int, sys.argv[1:])):
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
