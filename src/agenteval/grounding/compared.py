"""A text as it is compared with another one: its words and their stems, which of them are names, and what it denies.

Negations are known in English, German, Dutch, French, Spanish, Portuguese and Italian.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate

from agenteval.language.content_words import plain_form
from agenteval.language.european import is_function_word, is_german
from agenteval.language.signs import words
from agenteval.lazyregex import lazy

LEAST_SHARED = 0.5
"""The share of a claim's content words that the passage must have for the two to be compared."""
MOST_PLACES = 4
"""Places of a name that are looked at."""
REACH = 4
"""How many words after it a negation may deny."""

DENYING = frozenset("not no never none nobody nothing neither nor without cannot".split())  # noqa: SIM905
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
_LIMITS = _UNTIL | frozenset(
    """
    after since from than above beyond earliest latest last most up nach seit ab frühestens spätestens höchstens zuletzt
    después desde máximo après depuis dès maximum
    """.split()  # noqa: SIM905 - a list of them would be longer
)
"""Words that limit what is said: "no orders after ten", "orders until ten"."""
_CONDITIONS = frozenset("if unless whether wenn falls ob si vergiss vergessen".split())  # noqa: SIM905
NONE = ("no", "without")
_JOINING = ("and", "or", "und", "oder", "y", "et")
"""What stands between names of which the same is said."""
_BECOMING = (
    "get",
    "become",
    "feel",
    "look",
    "seem",
    "suitable",
    "meant",
    "intended",
    "designed",
    "marked",
    "flagged",
    "listed",
)
"""Words that say nothing by themselves: "does not get hot", "is not suitable for children"."""
_NOT_DENYING = frozenset(
    [
        "only",
        "just",
        "merely",
        "simply",
        "least",
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
_AT_MOST = [[word, "than"] for word in ("less", "more", "fewer", "later", "longer")]
NEGATIVE = lazy(
    r"(?i)\b(?:den(?:y|ied|ies)|refus|fail|ignor|lack|reject|unable|unlikely|prevent|avoid|stop|ceas(?!e-?fire)|halt|cancel|drop"
    r"|suspend|abandon|outgr[eo]w|scrapp|call(?:s|ed|ing)? off"
    r"|(?:ge|be|aus)fallen\b|(?:ent)?f[aä]llt\b|ausf[aä]ll|(?:ab|unter)gesagt|unmöglich|abge(?:sagt|lehnt)|gestrichen|eingestellt|verweiger|fehl"
    r"|annul|supprim|interromp|suspen|impossib|manqu|impos|rechaz|falta"
    r"|exclud|except\b|absen|miss(?:es|ed|ing)\b|hardly|barely|neither|fix(?:ed|es)\b|free\b|(?:has|have|had) to wait\b|außer|far from|out of|rather than|instead|non\b|un(?!it|ivers|ion|der|iform|ique|veil|less|til|cles?\b|doubt)[a-z]{4}|in(?:valid|correct|complete|active))"
)
_LONGEST_NEGATIVE = 3
"""Words of the longest of these."""
_ZERO = lazy(r"(?<![\w.,:/])0(?![\w:/%°]|[.,]\d|\s[%°])")

_BARRING = lazy(
    r"(?i)\b(?:clos(?:es?|ed|ing|ure)|shut|ban(?:s|ned)?|forbid\w*|prohibit\w*|block(?:s|ed)?|restrict\w*"
    r"|ge(?:schlossen|sperrt)|ver(?:boten|schoben)|untersagt|ferm[eé]\w*|interdi\w*|cerrad\w*|prohib\w*|gesloten|verboden|separate(?:ly)?|postpone\w*|delay\w*|pending|taken|same|unchanged)\b"
)
_EXCEPTING = lazy(
    r"(?i)\b(?:except|unless|apart from|other than|außer|es sei denn|sauf|hormis|excepto|salvo|a menos que)\b"
)
_RESTRICTING = frozenset("only nur seulement solo sólo".split())  # noqa: SIM905
_CHANGING = lazy(r"(?i)\b(?:moved|rescheduled|replaced|changed|switched)\b")
_OF_DEGREES = lazy(r"° ?[CF]\b")
"""The letter would be taken for a name."""
_IN_WORD = lazy(r"(?i)(?<=\w)-not-(?=\w)")
"""What denies nothing: `do-not-disturb`."""
_ANSWERED = lazy(
    r"(?i)(?:\A|(?<=[.:;,|()\n]))(?P<label>[^.:;,|()\n]+): ?[*_]*no\b(?=[*_]*\s*(?:[.,;|)\n]|\Z))"
)
_PARTS = lazy(r"[;:()|\n]|,(?! (?:who|whose|which)\b)")
_SENTENCE_END = lazy(r"(?<=\w{3}[.!?])\s")
_ANSWERS = ("no,", "no.", "no:", "no!", "no;", "no -", "no \u2013", "no \u2014")


@lru_cache(maxsize=256)  # the passages of a fixture are compared with many claims
def compared(text: str) -> "Words":
    """The words of a text."""
    return Words(text)


class Words:
    """The words of a text, the stem of each (empty for a function word), and which deny what follows."""

    def __init__(self, text: str) -> None:
        self._text = text = _IN_WORD.sub("-", _OF_DEGREES.sub("°", text))
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
            if [word.lower() for word in self.words[place : place + 2]] == ["no", "longer"]:
                self.stems[place + 1] = ""  # what is no longer so stands after it

    def _denying(self) -> list[int]:
        words = [*map(str.lower, self.words), ""]
        if DENYING.isdisjoint(words) and "n't" not in " ".join(words):  # as in most texts
            return []
        return [
            place
            for place, word in enumerate(words)
            if (word in DENYING or word.endswith("n't"))
            and not (words[place + 1] in _NOT_DENYING or words[place + 1 : place + 3] in _AT_MOST)
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
        start = self.clause(place).start
        return not _CONDITIONS.isdisjoint(map(str.lower, self.words[start:place]))

    def is_until(self, place: int, theirs: "Words") -> bool:
        """Whether a negation only says from when on something is so: "not before 9", where a text says from when."""
        after = set(map(str.lower, self.words[place + 1 : place + 2 + REACH])) & _UNTIL
        return bool(after) and (bool(theirs.denying) or after.isdisjoint(map(str.lower, theirs.words)))

    def limits(self, places: range) -> frozenset[str]:
        """The words at these places that limit what is said there."""
        return _LIMITS.intersection(map(str.lower, self.words[places.start : places.stop]))

    def is_within_other_limits(self, place: int, others: "Words") -> bool:
        """Whether what is said at a place is limited, and what the other text says in another way: "not before" and "from"."""
        own = self.limits(range(place + 1, self.clause(place).stop))
        theirs = others.limits(range(len(others.words)))
        return bool(own and theirs) and own.isdisjoint(theirs)

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
            if (
                place in self.breaks
                and place not in self.answered
                and self.words[place].lower() not in _AFTER_VERB
            ):
                continue  # "I can't, flu"
            start, end = place + 1, place + 1 + REACH
            if place in self.answered:
                start, end = self.answered[place], place
            following = (at for at in range(start, end) if any(self.stems[at : at + 1]))
            after = next((at for at in following if self.words[at] not in _BECOMING), None)
            if self.words[place].lower() in _AFTER_VERB and self._ends_clause(place, after):
                after = next(
                    (at for at in range(place - 1, max(-1, place - 1 - REACH), -1) if self.stems[at]), None
                )
            if after is not None:
                found.setdefault(self.stems[after], (place, after))
        return found

    @cached_property
    def answered(self) -> dict[int, int]:
        """The places of the `no` that answers what stands before it, "Dishwasher safe: no", and from where that goes."""
        return {
            len(words(self._text[: match.end("label")])): len(words(self._text[: match.start()]))
            for match in _ANSWERED.finditer(self._text)
        }

    def _ends_clause(self, place: int, following: int | None) -> bool:
        """Whether a word is the last of its clause, but for words without weight."""
        return following is None or not self.breaks.isdisjoint(range(place, following))

    @cached_property
    def state(self) -> tuple[str, ...]:
        """The stems of what is so, or not: the name of a boolean field."""
        return tuple(filter(None, self.stems))

    @cached_property
    def negatives(self) -> set[int]:
        """The places of the words that say that something is not so, "refused", "out of", or that there is none: "0 errors"."""
        told = words(_ZERO.sub("none", self._text))
        return {
            at
            for at, word in enumerate(self.words)
            if told[at] != word or NEGATIVE.match(self.part(at, at + _LONGEST_NEGATIVE))
        }

    @cached_property
    def bars(self) -> bool:
        """Whether any word says that something cannot be done: "closed to cars"."""
        return bool(_BARRING.search(" ".join(self.words)))

    @cached_property
    def excepts(self) -> bool:
        """Whether something is so, or not, but for an exception: "daily except on Tuesdays"."""
        return bool(_EXCEPTING.search(self._text))

    @property
    def restricts(self) -> bool:
        """Whether something is so in one case only."""
        return not _RESTRICTING.isdisjoint(map(str.lower, self.words))

    @cached_property
    def has_changed(self) -> bool:
        """Whether any word says that something is not as it was."""
        return bool(_CHANGING.search(" ".join(self.words)))

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
        starts = [self.answered.get(place, place) for place in self.denying]
        denied = {
            at
            for place, start in zip(self.denying, starts, strict=True)
            for at in range(start, place + 1 + REACH)
        }
        return ["" if at in denied else word for at, word in enumerate(self.lowered)]

    def clause(self, place: int) -> range:
        """The places of the words of the clause that a word is in."""
        ends = self.breaks | self.ends
        start = max((at + 1 for at in ends if at < place), default=0)
        return range(start, min((at + 1 for at in ends if at >= place), default=len(self.words)))

    def names_before(self, place: int) -> set[str]:
        """The stems of the names that end right before a place: "Ada and Ben"."""
        return self._names_from(place - 1, -1)

    def names_after(self, place: int) -> set[str]:
        """The stems of the names that begin at a place."""
        return self._names_from(place, 1)

    def _names_from(self, place: int, step: int) -> set[str]:
        found: set[str] = set()
        while 0 <= place < len(self.words):
            if self.names[place]:
                found.add(self.stems[place])
            elif not found or self.words[place] not in _JOINING:
                break
            place += step
        return found

    @cached_property
    def is_german(self) -> bool:
        """Whether the text is German."""
        return is_german(self._text)

    @cached_property
    def names(self) -> list[bool]:
        """Whether each word is capitalised and carries meaning. In German that is no sign of a name."""
        if self.is_german:
            return [False] * len(self.words)
        return [bool(stem) and word[0].isupper() for stem, word in zip(self.stems, self.words, strict=True)]


def shared_words(mine: "Words", theirs: "Words") -> set[str]:
    """The content words in both, if there are enough of them for a comparison."""
    stems = set(mine.stems) - {""}
    shared = stems.intersection(theirs.stems)
    return shared if len(shared) >= LEAST_SHARED * len(stems) else set()


def places(stems: list[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """From where to where the words occur consecutively, at most `MOST_PLACES` times."""
    found: list[tuple[int, int]] = []
    at = -1
    for _ in range(stems.count(wanted[0])):
        at = stems.index(wanted[0], at + 1)
        end = at + len(wanted)
        if tuple(stems[at:end]) == wanted:
            found.append((at, end))
    return found[:MOST_PLACES]
