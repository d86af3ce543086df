"""How many planted fabrications the check finds, by kind: `python -m benchmarks.fabrications FILE… [--recordings FOLDER]`.

The files are those of `benchmarks.groundedness`; of a JSON value, each text in it is a source. An honest output is a
sentence of a source as it stands; a fabricated one is the same with one thing changed: a number, a date, a name, a
URL, a quote, a negation put in or taken out, two names on either side of a verb swapped, or a word turned into its
opposite. The choice is random with a fixed seed, so that every run is the same. What is put in may well stand
somewhere else in the source. An honest output that fails is a false alarm.

With `--recordings`, what real runs said and what their tools returned comes first, each sentence changed in several
ways; the files fill up to 200 of each kind.
"""

import argparse
import json
import random
import re
import sys
from calendar import month_name
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import recorded
from benchmarks.groundedness import CASE, CHECK, share, sources_of, trace_of

from agenteval.text.parts import sentences, texts
from agenteval.text.words import plain_form

Json = dict[str, Any]
Planted = tuple[str, str, str]
"""A source, an output that it supports, and one that it does not."""
MOST = 200
WAYS = 8
"""How often each sentence of a run is changed."""
SEED = 20_261_122


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--recordings", type=Path, metavar="FOLDER", help="recordings of NanoClaw, each a folder"
    )
    parser.add_argument("--json", action="store_true", help="print a list of figures by kind")
    parser.add_argument("--missed", action="store_true", help="print what was missed, and the false alarms")
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for path in options.files for line in path.read_text("utf-8").splitlines()]
    runs = list(recorded.rows(options.recordings)) if options.recordings else []
    found = [figures(kind, rows, runs, show=options.missed) for kind in KINDS]
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{'':<13}{'planted':>8}{'recorded':>10}{'found':>8}{'false alarms':>14}")
        for each in found:
            rates = (each["detection_rate"], each["false_alarm_rate"])
            detected, alarms = ("-" if rate is None else f"{rate:.1%}" for rate in rates)
            print(f"{each['kind']:<13}{each['n']:>8}{each['recorded']:>10}{detected:>8}{alarms:>14}")
    return 0


def figures(kind: str, rows: Sequence[Json], runs: Sequence[Json] = (), *, show: bool = False) -> Json:
    """The share of planted fabrications of one kind that are found; `recorded` are those planted in `runs`."""
    chance = random.Random(f"{SEED} {kind}")
    pool = list(
        dict.fromkeys(
            (source, text) for row in rows for source in texts(sources_of(row)) for text in _said(source)
        )
    )
    chance.shuffle(pool)
    names = sorted({name for _, text in pool for name in NAME.findall(text)})
    planted = _in_runs(kind, runs, names, chance)
    of_runs = len(planted)
    for source, text in pool:
        planted += KINDS[kind](source, text, names, chance)
        if len(planted) >= MOST:
            break
    planted = planted[:MOST]
    missed = [case for case in planted if passes(case[0], case[2])]
    alarms = [case for case in planted if not passes(case[0], case[1])]
    if show:
        for _, honest, false in missed:
            print(f"{kind} missed: {false}\n    for {honest}")
        for _, honest, _ in alarms:
            print(f"{kind} alarm: {honest}")
    return {
        "kind": kind,
        "n": len(planted),
        "recorded": of_runs,
        "detection_rate": share(len(planted) - len(missed), len(planted)),
        "false_alarm_rate": share(len(alarms), len(planted)),
    }


def _in_runs(kind: str, runs: Sequence[Json], names: Sequence[str], chance: random.Random) -> list[Planted]:
    """What is planted in the sentences of runs: of their outputs, as far as they are honest, and their results."""
    pool = dict.fromkeys(
        (source, text)
        for run in runs
        for source in sources_of(run)
        for text in (*_lines(source), *(line for line in _lines(run["output"]) if passes(source, line)))
        if kind != "quote" or text in source
    )
    each = (
        made
        for _ in range(WAYS)
        for source, text in pool
        for made in KINDS[kind](source, text, names, chance)
    )
    return [made for made in dict.fromkeys(each) if made[1] != made[2]][: MOST // 2]


def _lines(text: str) -> Iterator[str]:
    """The sentences of a text, none longer than a line, without the marks of lists."""
    for line in text.splitlines():
        yield from _said(line.strip("•*- "))


def passes(source: str, output: str) -> bool:
    """Whether the check lets an output pass."""
    return CHECK.judge(trace_of({"id": "planted", "source": source, "output": output}), CASE).passed


def _said(source: str) -> Iterator[str]:
    """The sentences of a source that are long enough to say something."""
    for text in sentences(re.sub(r"(?<=[a-z]{2})\.(?=[A-Z])", ". ", source)):
        if 5 <= len(text.split()) <= 40 and not text.endswith(("?", ":")):
            yield text


Make = Callable[[str, str, Sequence[str], random.Random], Iterator[Planted]]
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}\b")
NUMBER = re.compile(r"(?<![\w.,:-])(?<!\d[.,] )\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,:] ?\d)")
MONTHS = month_name[1:]
DATE = re.compile(rf"\b(?:{'|'.join(MONTHS)}) \d{{1,2}}\b|\b\d{{1,2}} (?:{'|'.join(MONTHS)})\b")
AUXILIARY = re.compile(r"\b(is|was|are|were|has|have|had|will|would|can|could|should)\b(?! not\b|n't)")
DENIED = re.compile(r"\b(is|was|are|were|has|have|had|will|would|could|should|did|does|do) not\b")
RELATION = re.compile(rf"({NAME.pattern.removeprefix('(?<=[a-z,] )')})((?: [a-z]+){{1,5}} )({NAME.pattern})")


JOINING = frozenset(
    ("and", "or", "of", "the", "in", "at", "with", "near", "to", "for", "from", "on", "as", "a", "an", "but")
)
"""Words that go both ways between two names, or join them to one."""


def number(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """One more, one less, ten times as much, or with other digits."""
    dates = [range(*match.span()) for match in DATE.finditer(text)]
    found = [each for each in NUMBER.finditer(text) if not any(each.start() in date for date in dates)]
    if found:
        match = chance.choice(found)
        digits = match.group()
        other = chance.choice(
            [_changed(digits, chance), digits.replace(".", "") + "0", _changed(digits, chance)]
        )
        yield source, text, _with(text, match, other)


def _with(text: str, match: re.Match[str], other: str) -> str:
    """The text with something else in the place of what was found."""
    return text[: match.start()] + other + text[match.end() :]


def _changed(digits: str, chance: random.Random) -> str:
    places = [place for place, sign in enumerate(digits) if sign.isdigit()]
    place = chance.choice(places)
    return digits[:place] + str((int(digits[place]) % 9) + 1) + digits[place + 1 :]


def date(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """Another day, or another month."""
    found = list(DATE.finditer(text))
    if found:
        match = chance.choice(found)
        day = int(re.findall(r"\d+", match.group())[0])
        month = next(name for name in MONTHS if name in match.group())
        changed = (
            match.group().replace(str(day), str(day % 28 + 1))
            if chance.random() < 0.5
            else match.group().replace(month, MONTHS[(MONTHS.index(month) + chance.randint(1, 11)) % 12])
        )
        yield source, text, _with(text, match, changed)


def name(source: str, text: str, names: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """A name from elsewhere in the place of one."""
    found = list(NAME.finditer(text))
    others = [other for other in chance.sample(names, min(20, len(names))) if other not in source]
    if found and others:
        match = chance.choice(found)
        yield source, text, _with(text, match, others[0])


def elsewhere(pattern: re.Pattern[str]) -> Make:
    """Makes what puts another fact of the same source, found by a pattern, in the place of one."""

    def make(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
        found = list(pattern.finditer(text))
        others = sorted(
            {each.group() for each in pattern.finditer(source)} - {each.group() for each in found}
        )
        if found and others:
            match, other = chance.choice(found), chance.choice(others)
            if not any(word in text for word in re.findall(r"\w+", other)):
                yield source, text, _with(text, match, other)

    return make


def url(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """Another page of the same site, or the page on another site."""
    page = f"https://news.example.com/{chance.choice('abcdefgh')}/{chance.randint(10, 99)}"
    other = chance.choice(
        [f"{page}{chance.randint(1, 9)}", page.replace("news", "press"), page.replace("/", "/x", 4)]
    )
    stated = text.rstrip(". ")
    yield f"{source} ({page})", f"{stated} ({page}).", f"{stated} ({other})."


def quote(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """A row of words of the source in quotation marks, with one of them exchanged."""
    words = text.split()
    if len(words) < 9 or '"' in text:
        return
    start = chance.randint(0, len(words) - 7)
    said = words[start : start + 6]
    place = chance.randint(1, 4)
    if not said[place].isalpha():
        return
    other = [
        *said[:place],
        chance.choice(["never", "always", "hardly", "every", "secret"]),
        *said[place + 1 :],
    ]
    rest = text.rstrip(".")
    yield source, f'{rest}: "{" ".join(said)}".', f'{rest}: "{" ".join(other)}".'


def negation(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """A "not" after an auxiliary, or the one that is there left out."""
    if match := DENIED.search(text):
        yield source, text, _with(text, match, match.group(1))
    elif found := list(AUXILIARY.finditer(text)):
        match = chance.choice(found)
        yield source, text, _with(text, match, f"{match.group()} not")


def roles(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """Two names with a few words between them, exchanged."""
    found = [m for m in RELATION.finditer(text) if _tells(m)]
    if found:
        match = chance.choice(found)
        swapped = f"{match.group(3)}{match.group(2)}{match.group(1)}"
        yield source, text, _with(text, match, swapped)


def _tells(match: re.Match[str]) -> bool:
    """Whether exchanging the two names makes another statement."""
    one, between, two = match.groups()
    return one != two and not _is_list(between) and _is_name(one) and _is_name(two)


def _is_list(between: str) -> bool:
    """Whether what stands between two names goes both ways, or joins them to one."""
    return JOINING.issuperset(between.split())


def _is_name(text: str) -> bool:
    return bool(plain_form(text.split(maxsplit=1)[0]))


_PAIRS = """
rose/fell increased/decreased growing/shrinking gained/lost won/lost higher/lower highest/lowest high/low upper/lower
top/bottom before/after first/last more/less largest/smallest best/worst early/late earlier/later morning/evening
young/old longer/shorter opened/closed started/ended arrived/left inside/outside right/left accepted/rejected
bought/sold allowed/banned passed/failed northern/southern eastern/western north/south east/west added/removed
cheap/expensive strong/weak always/never public/private legal/illegal positive/negative
"""
OPPOSITES = dict(pair.split("/") for pair in _PAIRS.split())
"""Opposites in the form they are written in, to be read both ways."""
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}
OPPOSITE = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b")


def opposite(source: str, text: str, _: Sequence[str], chance: random.Random) -> Iterator[Planted]:
    """A word turned into its opposite."""
    if found := list(OPPOSITE.finditer(text)):
        match = chance.choice(found)
        yield source, text, _with(text, match, OPPOSITES[match.group()])


KINDS: dict[str, Make] = {
    "number": number,
    "date": date,
    "name": name,
    "url": url,
    "quote": quote,
    "negation": negation,
    "roles": roles,
    "opposite": opposite,
    "other number": elsewhere(NUMBER),
    "other date": elsewhere(DATE),
    "other name": elsewhere(NAME),
}

if __name__ == "__main__":
    sys.exit(main())
