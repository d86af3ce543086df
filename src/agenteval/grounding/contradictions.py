"""Where a claim says the opposite of the passage nearest to it, or has the roles of two names swapped.

All this is judged only where the claim says much the same as the passage: with `LEAST_SHARED` of its content words.
What a JSON object says is compared field by field.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise

from agenteval.grounding.dates import DAYS, MONTH_NAMES
from agenteval.grounding.opposites import has_opposite, opposed
from agenteval.grounding.records import fields
from agenteval.language.content_words import plain_form
from agenteval.language.european import is_function_word, is_german
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

LEAST_SHARED = 0.5
"""The share of a claim's content words that the passage must have for the two to be compared."""
LONGEST = 1_500
"""Characters of a claim and of a passage that are compared: a sentence or two is rarely longer."""
MOST_PLACES = 4
"""Places of a name that are looked at."""
REACH = 4
"""How many words after it a negation may deny."""


def contradictions(claim: str, passage: str) -> tuple[str, ...]:
    """What the claim denies, asserts or swaps against the passage, each as an excerpt of the claim."""
    return _kept(claim[:LONGEST], passage[:LONGEST])


def against_record(claim: str, record: str, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """The same against what a JSON object says, whose fields have nothing to do with each other.

    What is so, or not, may be told by others `beside` it: they contradict the claim if all of them do that tell it.
    """
    mine = _words(claim[:LONGEST])
    told = list(fields(record[:LONGEST]))
    found = [part for name, value in told for part in _against_field(mine, name, value)]
    own = {_words(value).state for name, value in told if not name}
    others: dict[tuple[str, ...], list[list[str]]] = {}
    for value in (value for each in beside for name, value in fields(each[:LONGEST]) if not name):
        theirs = _words(value)
        if theirs.state not in own and not value.startswith("no "):
            others.setdefault(theirs.state, []).append(list(_against_state(mine, theirs)))
    return (*found, *chain.from_iterable(each[0] for each in others.values() if all(each)))


def denied(claim: str) -> frozenset[str]:
    """The words of a claim, in lower case, that a negation in it may deny, or that it says are off."""
    said = _words(claim[:LONGEST])
    negated = {word.lower() for place in said.denying for word in said.words[place + 1 : place + 1 + REACH]}
    return frozenset(negated.union(match[1].lower() for match in _OFF.finditer(claim[:LONGEST])))


_OFF = lazy(r"(?i)(\w+) (?:(?:is|are|was|were) )?(?:switched |turned )?off\b")


def _against_field(mine: "_Words", name: str, value: str) -> Iterator[str]:
    if not name:
        yield from _against_state(mine, _words(value))
    elif _COUNT.fullmatch(value):
        yield from _against_count(mine, _words(name).state)
    elif " " in value:
        theirs = _words(value)
        if _shared(mine, theirs) and (names := _names(mine, theirs)):
            yield from _swaps(mine, theirs, names)
            yield from _exchanged(mine, theirs, names)


_COUNT = lazy(r"0*[1-9]\d*")


def _against_count(mine: "_Words", counted: tuple[str, ...]) -> Iterator[str]:
    """Where the claim says that there are none of what a field counts: "no attachments" for `attachments: 2`."""
    for place in mine.denying if counted else ():
        end = place + 1 + len(counted)
        is_whole = end == len(mine.words) or end - 1 in mine.breaks  # not "no attachments above 5 MB"
        if mine.words[place].lower() in _NONE and tuple(mine.stems[place + 1 : end]) == counted and is_whole:
            yield mine.part(place, end)


def _against_state(mine: "_Words", theirs: "_Words") -> Iterator[str]:
    """Where the claim says the opposite of a boolean field."""
    said = [word for word in theirs.lowered if word not in _AUXILIARIES and word not in _DENYING]
    told = [stem for stem in theirs.stems if stem]
    # `on_time` is not meant by "the time", but `window_open` by "the window is open".
    if len(said) > len(told):
        is_meant = bool(_places(mine.lowered, tuple(said)))
    else:
        is_meant = set(told) <= set(mine.stems)
    if not (told and is_meant):
        return
    if theirs.denying:
        others = [word for word, stem in zip(mine.words, mine.stems, strict=True) if stem not in told]
        is_otherwise = not (mine.denying or _NEGATIVE.search(" ".join(others)))
    else:
        is_otherwise = not mine.denied().keys().isdisjoint(told)
    if is_otherwise and told[0] in mine.stems:
        at = mine.stems.index(told[0])
        yield mine.part(at, at + 1)


_AUXILIARIES = frozenset("is are was were has have had can be been".split())  # noqa: SIM905


@lru_cache(maxsize=256)  # an output is judged again with each of its mutants
def _kept(claim: str, passage: str) -> tuple[str, ...]:
    return tuple(_found(claim, passage))


def _found(claim: str, passage: str) -> Iterator[str]:
    mine, theirs = _words(claim), _words(passage)
    shared = _shared(mine, theirs)
    if not shared:
        return
    if mine.denying or theirs.denying:
        yield from _denials(mine, theirs, shared)
    yield from (mine.words[place] for place in opposed(mine.undenied, theirs.undenied))
    if names := _names(mine, theirs):
        yield from _swaps(mine, theirs, names)
        yield from _exchanged(mine, theirs, names)


def _shared(mine: "_Words", theirs: "_Words") -> set[str]:
    """The content words in both, if there are enough of them for a comparison."""
    stems = set(mine.stems) - {""}
    shared = stems.intersection(theirs.stems)
    return shared if len(shared) >= LEAST_SHARED * len(stems) else set()


_DENYING = frozenset("not no never none nobody nothing neither nor without cannot".split())  # noqa: SIM905
_ABROAD = frozenset(
    """
    nicht kein keine keinen keinem keiner niemals ohne niet geen nooit zonder ne jamais aucun aucune nunca ningún ninguna
    tampoco não nenhum nenhuma nessun nessuna senza
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Words that deny what follows in German, Dutch, French, Spanish, Portuguese and Italian."""
_ITALIAN = frozenset("è il che di gli della del alla sono si".split())  # noqa: SIM905
"""Words beside which `non` denies: it is no `non-stop`."""
_SPANISH = frozenset("el la los las del una que se".split())  # noqa: SIM905
_AFTER_VERB = ("nicht", "niet")
"""What denies what stands before it where its clause ends: "Der Zug fährt heute nicht"."""
_UNTIL = frozenset("before until till vor bis antes hasta avant".split())  # noqa: SIM905
_CONDITIONS = frozenset("if unless whether wenn falls ob si vergiss vergessen".split())  # noqa: SIM905
_NONE = ("no", "without")
_NOT_DENYING = frozenset(
    [
        "only",
        "just",
        "merely",
        "simply",
        "least",
        "less",
        "more",
        "fewer",
        "later",
        "under",
        "over",
        "below",
        "doubt",
        "matter",
        "nur",
        "zuletzt",
        "problem",
        "zweifel",
        "solo",
        "alleen",
    ]
)
_NEGATIVE = lazy(
    r"(?i)\b(?:den(?:y|ied|ies)|refus|fail|lack|reject|unable|unlikely|prevent|avoid|stop|ceas|halt|cancel|drop"
    r"|suspend|abandon|scrapp|call(?:s|ed|ing)? off"
    r"|(?:ge|be|aus)fallen\b|(?:ent)?f[aä]llt\b|ausf[aä]ll|(?:ab|unter)gesagt|unmöglich|abge(?:sagt|lehnt)|gestrichen|eingestellt|verweiger|fehl"
    r"|annul|supprim|interromp|suspen|impossib|manqu|impos|rechaz|falta"
    r"|exclud|except\b|absen|miss(?:es|ed|ing)\b|hardly|barely|neither|fix(?:ed|es)\b|free\b|außer|far from|out of|rather than|instead|un[a-z]{4}|in(?:valid|correct|complete|active))"
)


_FORMER = lazy(r"(?i)(?:chang|mov|switch|replac)(?:ed|ing|es) (?:from )?")
"""What says of what follows that it is so no more: "changed from B26"."""
_BARRING = lazy(
    r"(?i)\b(?:clos(?:es?|ed|ing|ure)|shut|ban(?:s|ned)?|forbid\w*|prohibit\w*|block(?:s|ed)?|restrict\w*"
    r"|ge(?:schlossen|sperrt)|ver(?:boten|schoben)|untersagt|ferm[eé]\w*|interdi\w*|cerrad\w*|prohib\w*|gesloten|verboden|separate(?:ly)?|postpone\w*|delay\w*|pending|taken|same|unchanged)\b"
)
_OF_DEGREES = lazy(r"° ?[CF]\b")
"""The letter would be taken for a name."""
_PARTS = lazy(r"[;:()\n]|,(?! (?:who|whose|which)\b)")
_SENTENCE_END = lazy(r"(?<=\w{3}[.!?])\s")
_DAYS = frozenset(map(plain_form, DAYS))
_DATED = _DAYS | frozenset(map(plain_form, MONTH_NAMES))
_ANSWERS = ("no,", "no.", "no:", "no!", "no;", "no -", "no \u2013", "no \u2014")


@lru_cache(maxsize=256)  # the passages of a fixture are compared with many claims
def _words(text: str) -> "_Words":
    return _Words(text)


class _Words:
    """The words of a text, the stem of each (empty for a function word), and which deny what follows."""

    def __init__(self, text: str) -> None:
        self._text = text = _OF_DEGREES.sub("°", text)
        self.words = words(text)
        self.stems = list(map(plain_form, self.words))
        for place in [at for at, word in enumerate(self.words) if len(word) == 1]:
            word = self.words[place]
            if place and word.isupper() and word != "I":
                self.stems[place] = word.lower()  # the A of "Lab A"
        self._answers = text.lower().startswith(_ANSWERS)
        self.denying = self._denying()
        self.is_abroad = not self.denying or self._is_spanish()
        """Whether what it denies, if anything, is in another language than English: opposites are not known there."""
        if not self.denying:
            self.denying = self._denying_abroad()
        for place in self.denying:
            self.stems[place] = ""

    def _denying(self) -> list[int]:
        words = [*map(str.lower, self.words), ""]
        if _DENYING.isdisjoint(words) and "n't" not in " ".join(words):  # as in most texts
            return []
        return [
            place
            for place, word in enumerate(words)
            if (word in _DENYING or word.endswith("n't"))
            and words[place + 1] not in _NOT_DENYING
            and not (place == 0 and self._answers)
        ]

    def _is_spanish(self) -> bool:
        """Whether all that is denied is by the `no` of Spanish."""
        lowered = [word.lower() for word in self.words]
        return not _SPANISH.isdisjoint(lowered) and all(lowered[place] == "no" for place in self.denying)

    def _denying_abroad(self) -> list[int]:
        """The same in other languages, whose words without weight are then passed over too."""
        lowered = [word if word.islower() else word.lower() for word in self.words]
        denying = _ABROAD if _ITALIAN.isdisjoint(lowered) else _ABROAD | {"non"}
        found = [
            place
            for place, word in enumerate(lowered)
            if (word in denying and self.words[place] != "NE")
            or (word.startswith("n'") and "pas" in lowered[place:])
        ]
        found = [place for place in found if not _NOT_DENYING.intersection(lowered[place + 1 : place + 2])]
        for place in (place for place, word in enumerate(lowered) if found and is_function_word(word)):
            self.stems[place] = ""
        return found

    def is_conditional(self, place: int) -> bool:
        """Whether a word is in a clause that says under what condition something is so."""
        start = max((at + 1 for at in self.breaks if at < place), default=0)
        return not _CONDITIONS.isdisjoint(map(str.lower, self.words[start:place]))

    def is_until(self, place: int, theirs: "_Words") -> bool:
        """Whether a negation only says from when on something is so: "not before 9", where a text says from when."""
        after = set(map(str.lower, self.words[place + 1 : place + 2 + REACH])) & _UNTIL
        return bool(after) and (bool(theirs.denying) or after.isdisjoint(map(str.lower, theirs.words)))

    def subject_of(self, place: int) -> str:
        """The stem of the word with weight before a negation, which tells what it is about."""
        return next((stem for stem in self.stems[max(0, place - 2) : place][::-1] if stem), "")

    def part(self, start: int, end: int) -> str:
        """Words as they are written."""
        return " ".join(self.words[start:end])

    def denied(self) -> dict[str, tuple[int, int]]:
        """The stems that are denied, each with the places of the negation and of the word."""
        found: dict[str, tuple[int, int]] = {}
        for place in self.denying:
            after = next(
                (at for at in range(place + 1, place + 1 + REACH) if any(self.stems[at : at + 1])), None
            )
            if self.words[place].lower() in _AFTER_VERB and self._ends_clause(place, after):
                after = next(
                    (at for at in range(place - 1, max(-1, place - 1 - REACH), -1) if self.stems[at]), None
                )
            if after is not None:
                found.setdefault(self.stems[after], (place, after))
        return found

    def _ends_clause(self, place: int, following: int | None) -> bool:
        """Whether a word is the last of its clause, but for words without weight."""
        return following is None or not self.breaks.isdisjoint(range(place, following))

    @cached_property
    def state(self) -> tuple[str, ...]:
        """The stems of what is so, or not: the name of a boolean field."""
        return tuple(filter(None, self.stems))

    @cached_property
    def has_negative(self) -> bool:
        """Whether any word says that something is not so: "refused", "out of"."""
        return bool(_NEGATIVE.search(" ".join(self.words)))

    @cached_property
    def bars(self) -> bool:
        """Whether any word says that something cannot be done: "closed to cars"."""
        return bool(_BARRING.search(" ".join(self.words)))

    @cached_property
    def breaks(self) -> set[int]:
        """The places of the words that a comma or another mark separates from the next one."""
        parts = map(len, map(words, _PARTS.split(self._text)))
        return {end - 1 for end in accumulate(parts)}

    @cached_property
    def ends(self) -> set[int]:
        """The places of the words that end a sentence."""
        parts = map(len, map(words, _SENTENCE_END.split(self._text)))
        return {end - 1 for end in accumulate(parts)}

    @cached_property
    def lowered(self) -> list[str]:
        """The stem of each word, or the word in lower case where it has none."""
        return [stem or word.lower() for stem, word in zip(self.stems, self.words, strict=True)]

    @cached_property
    def undenied(self) -> list[str]:
        """The words in this form, those that a negation may deny left empty."""
        if not self.denying:
            return self.lowered
        denied = {at for place in self.denying for at in range(place, place + 1 + REACH)}
        return ["" if at in denied else word for at, word in enumerate(self.lowered)]

    def name_before(self, place: int) -> set[str]:
        """The stems of the name that ends right before a place."""
        start = place
        while start and self.names[start - 1]:
            start -= 1
        return set(self.stems[start:place])

    def name_after(self, place: int) -> set[str]:
        """The stems of the name that begins at a place."""
        end = place
        while end < len(self.words) and self.names[end]:
            end += 1
        return set(self.stems[place:end])

    @cached_property
    def names(self) -> list[bool]:
        """Whether each word is capitalised and carries meaning. In German that is no sign of a name."""
        if is_german(self._text):
            return [False] * len(self.words)
        return [bool(stem) and word[0].isupper() for stem, word in zip(self.stems, self.words, strict=True)]


# Negation ------------------------------------------------------------------------------------------------------


def _denials(mine: _Words, theirs: _Words, shared: set[str]) -> Iterator[str]:
    own, other = mine.denied(), theirs.denied()
    for stem, (start, end) in own.items():
        if (
            mine.is_until(start, theirs)
            or mine.is_conditional(start)
            or (stem not in shared and (start == 0 or mine.is_abroad))
        ):
            continue  # "if you can't come"; "Don't forget your ticket"
        if (about := mine.subject_of(start)) and about in map(theirs.subject_of, theirs.denying):
            continue  # "18 isn't supported" for "18 no longer works"
        is_denied = other or theirs.has_negative or theirs.bars
        is_negative = _is_negative(theirs, stem) if stem in shared else is_denied
        if not (is_negative or has_opposite(stem, theirs.lowered)):
            yield mine.part(min(start, end), max(start, end) + 1)
    if own or mine.has_negative:
        return
    for stem, (start, end) in other.items():
        if stem in shared and (_beside(theirs, start, end, shared) or _says_alone(mine, theirs, start, stem)):
            at = mine.stems.index(stem)
            yield mine.part(at, at + 1)


def _is_negative(words: _Words, stem: str) -> bool:
    """Whether a word stands near something that denies it, or "none" may mean it."""
    if "none" in words.lowered:
        return True
    for place, each in enumerate(words.stems):
        if each != stem:
            continue
        near = range(max(0, place - REACH), min(len(words.words), place + 1 + REACH))
        inside = (at for at in near if words.ends.isdisjoint(range(min(at, place), max(at, place))))
        if any(
            at in words.denying
            or (at != place and _NEGATIVE.match(words.words[at]))
            or _FORMER.fullmatch(words.part(at, place) + " ")
            for at in inside
        ):
            return True
    return False


def _beside(words: _Words, start: int, end: int, shared: set[str]) -> bool:
    """Whether the content word after a denied one, or before it where none follows in its clause, is shared too."""
    last = min((at + 1 for at in words.breaks if at >= end and words.is_abroad), default=None)
    after = next((stem for stem in words.stems[end + 1 : last] if stem and stem not in _LIGHT), None)
    before = next(filter(None, reversed(words.stems[:start])), None)
    return after in shared if after else before in shared


_LIGHT = frozenset(map(plain_form, "seen found reported given made expected known needed".split()))  # noqa: SIM905


def _says_alone(mine: _Words, theirs: _Words, start: int, stem: str) -> bool:
    """Whether a claim says only what "no" or "without" denies, or says it after the same word: "made a difference"."""
    if theirs.words[start].lower() not in _NONE:
        return False
    said = [each for each in mine.stems if each]
    before = next(filter(None, reversed(theirs.stems[:start])), "")
    return said == [stem] or (before, stem) in pairwise(said)


# Roles ---------------------------------------------------------------------------------------------------------

_SYMMETRIC = frozenset(
    map(
        plain_form,
        "meet met marry married merge talk negotiate play face fight share compare discuss include agree partner".split(),  # noqa: SIM905
    )
)


_COMING = frozenset("come comes came coming hail hails originate originates".split())  # noqa: SIM905
_JOINING = frozenset("and or with the a an of for from near as both".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class _Name:
    stems: tuple[str, ...]
    start: int
    end: int


def _swaps(mine: _Words, theirs: _Words, names: Sequence["_Name"]) -> Iterator[str]:
    """Two names whose relation is reversed in the passage. A day or a month does nothing."""
    for one, two in pairwise(each for each in names if not _DATED.issuperset(each.stems)):
        relation = _Relation(mine, one.end, two.start)
        if not relation.tells or not mine.breaks.isdisjoint(range(one.end - 1, two.start)):
            continue  # "the Greens got 21 percent, the Liberals 14"
        ways = set(_ways(theirs, one.stems, two.stems, relation))
        if ways and all(forward == (relation.passive != passive) for forward, passive in ways):
            yield mine.part(one.start, two.end)


def _exchanged(mine: _Words, theirs: _Words, names: Sequence["_Name"]) -> Iterator[str]:
    """A name where the passage has another one before the same two words, or after them.

    An ordinary word of the claim is no name: the passage may have it capitalised at the start of a sentence.
    """
    own, other = mine.lowered, theirs.lowered
    ordinary = {stem for at, stem in enumerate(mine.stems) if at == 0 or not mine.names[at]}
    for name in names:
        for row, is_after in (
            (own[name.end : name.end + 2], True),
            (own[max(0, name.start - 2) : name.start], False),
        ):
            first = name.end if is_after else name.start - 2
            telling = [stem for stem in mine.stems[first : first + 2] if stem and not stem.isdigit()]
            if len(row) < 2 or not telling or any(mine.names[first : first + 2]):
                continue
            joins = range(min(first, name.start), max(first + 2, name.end) - 1)
            if not (all(mine.stems[first : first + 2]) or mine.breaks.isdisjoint(joins)):
                continue  # "Lyon, all day" is no "the chief executive, Dana"
            held = [at for at, word in enumerate(other[:-1]) if word == row[0] and other[at + 1] == row[1]]
            runs = [theirs.name_before(at) if is_after else theirs.name_after(at + 2) for at in held]
            is_day = not _DAYS.isdisjoint(name.stems)
            if runs and all(
                run - ordinary and run.isdisjoint(name.stems) and is_day != _DAYS.isdisjoint(run)
                for run in runs
            ):
                yield mine.part(min(first, name.start), max(first + 2, name.end))


def _ways(
    words: _Words, one: Sequence[str], two: Sequence[str], relation: "_Relation"
) -> Iterator[tuple[bool, bool]]:
    """How the passage relates the two: whether the first comes first, and whether the relation is passive."""
    for start, end in _places(words.stems, one):
        for other_start, other_end in _places(words.stems, two):
            forward = end <= other_start
            other = _Relation(words, end, other_start) if forward else _Relation(words, other_end, start)
            if other.same_as(relation):
                yield forward, other.passive


class _Relation:
    """What stands between two names."""

    def __init__(self, words: _Words, start: int, end: int) -> None:
        self.words = list(map(str.lower, words.words[start:end]))
        self.stems = {stem for stem in words.stems[start:end] if stem and not stem.isdigit()}
        self.passive = not {"by", "from"}.isdisjoint(self.words) and _COMING.isdisjoint(self.words)
        self.tells = bool(self.stems - _SYMMETRIC if self.stems else set(self.words) - _JOINING)
        """Whether it says who is what: it is no list, and nothing that goes both ways."""

    def same_as(self, other: "_Relation") -> bool:
        """Whether both say the same, as far as words tell: one that carries meaning, or all of them."""
        return bool((self.stems & other.stems) - _SYMMETRIC) or self.words == other.words


def _names(words: _Words, theirs: _Words) -> list[_Name]:
    """Runs of words that are capitalised here and in the passage, as long as they stand in a row there too."""
    known = {stem for stem, named in zip(theirs.stems, theirs.names, strict=True) if named}
    found: list[_Name] = []
    for place, stem in enumerate(words.stems):
        if stem not in known or not words.names[place]:
            continue
        last = found[-1] if found else None
        if last and last.end == place and _places(theirs.stems, (*last.stems, stem)):
            found[-1] = _Name((*last.stems, stem), last.start, place + 1)
        else:
            found.append(_Name((stem,), place, place + 1))
    return found


def _places(stems: list[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words occur consecutively, at most `MOST_PLACES`."""
    found: list[tuple[int, int]] = []
    at = -1
    for _ in range(stems.count(wanted[0])):
        at = stems.index(wanted[0], at + 1)
        end = at + len(wanted)
        if tuple(stems[at:end]) == wanted:
            found.append((at, end))
    return found[:MOST_PLACES]
