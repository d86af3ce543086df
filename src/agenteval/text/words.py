"""Words of texts: runs of letters and digits, with straight apostrophes inside of them."""

# ruff: noqa: RUF001 - curly apostrophes are meant

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import fold, lowered

if TYPE_CHECKING:
    from Stemmer import Stemmer


_OTHER_MARK = lazy(r"[^\x00-\x7f\w]")
_BLANKED = bytes(code if code in (0, 39) or code > 127 or chr(code).isalnum() else 32 for code in range(256))


def bare_words(text: str) -> list[str]:
    r"""List what `[^\W_]+(?:'[^\W_]+)*` finds, four times as fast: sources are long. `\0` stays, as a letter does."""
    if not text.isascii():
        text = _OTHER_MARK.sub(" ", text)
    text = text.encode().translate(_BLANKED).decode()
    if "'" in text:
        text = f" {text} ".replace("''", "  ").replace(" '", "  ").replace("' ", "  ")
    return text.split()


@cache
def _english() -> "Stemmer":
    from Stemmer import Stemmer

    return Stemmer("english", 0)  # the caches here are smaller


def bare_forms(words: Iterable[str]) -> list[str]:
    """Fold words and cut their possessive endings, all at once, which takes half the time."""
    text = fold("\n".join([*words, ""])).replace("’", "'")
    return text.replace("'s\n", "\n").replace("'\n", "\n").split("\n")[:-1]


def stems(bare: Sequence[str]) -> list[str]:
    """Return the stems of bare words."""
    english = [_IRREGULAR.get(word, word) for word in bare if word.isascii() and word.isalpha()]
    stemmed = iter(_english().stemWords(english))
    return [next(stemmed) if word.isascii() and word.isalpha() else word for word in bare]


_IRREGULAR = {
    form: forms[0]
    for forms in map(
        str.split,
        """
        begin began begun, break broke broken, bring brought, build built, buy bought, catch caught,
        choose chose chosen, come came, draw drew drawn, drive drove driven, eat ate eaten, fall
        fell fallen, feel felt, fight fought, find found, fly flew flown, forget forgot forgotten,
        get got gotten, give gave given, go went gone, grow grew grown, hear heard, hide hid hidden,
        hold held, keep kept, know knew known, lead led, leave left, lend lent, lose lost, make
        made, mean meant, meet met, pay paid, ride rode ridden, rise rose risen, run ran, say said,
        see saw seen, sell sold, send sent, shake shook shaken, show shown, sing sang sung, sink
        sank sunk, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood, steal stole
        stolen, strike struck, swim swam swum, take took taken, teach taught, tell told, think
        thought, throw threw thrown, wear wore worn, win won, write wrote written, man men, woman
        women, child children, person people
        """.split(","),  # noqa: SIM905 - a list of them would be six times as long
    )
    for form in forms[1:]
}
"""Irregular forms of common verbs and nouns, if another meaning of the form is rare."""


def content_words(text: str) -> list[str]:
    """List the content words of a text in their plain forms, in order."""
    return list(filter(None, map(plain_form, raw_words(text))))


def raw_words(text: str) -> list[str]:
    """List the words of a text as written, numbers without thousands separators."""
    found: list[str] = []
    written = _WORD.findall(text.replace("’", "'"))
    if "".join(written).isalpha():  # nothing to split, as in most texts
        return written
    for word in written:
        if word.isalpha():
            found.append(word)
        elif any(map(str.isdigit, word)) or "@" in word:
            found.append(_THOUSANDS.sub("", word))
        else:
            found += word.replace("-", " ").replace("/", " ").split()
    return found


_WORD = lazy(r"[^\W_]+(?:[-.,:'@/_+][^\W_]+)*")
_THOUSANDS = lazy(r"(?<=\d),(?=\d{3}(?!\d))")


@lru_cache(maxsize=4096)
def plain_form(word: str) -> str:
    """Return the form in which a word is compared; "" for a function word."""
    bare = bare_forms([word])
    return stems(bare)[0] if carries_content(bare[0]) else ""


def carries_content(bare: str) -> bool:
    """Return whether a bare form is a content word: a digit is, a single letter is not."""
    if bare in _FUNCTION_WORDS or "n't" in bare or len(bare) < 2:
        return bare.isdigit()
    return True


_FUNCTION_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing don down during each every few for from further
    had has have having he her here hers herself him himself his how i if in into is it its itself
    just let ll may me might more most must my myself no nor not now of off on once only or other our
    ours out over own per please re same shall she should so some such than that the their theirs them then
    there these they this those through to too under until up us ve very via was we were what when
    where which while who whom why will with would yes yet you your yours yourself i'm i've i'll i'd
    you're you've you'll he's she's it's we're we've we'll they're they've they'll that's there's
    here's let's what's everything everyone everybody nothing none nobody except apart
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)


def find_phrase(text: str, phrase: str, *, but_not: str = "") -> Iterator[tuple[int, int]]:
    """Yield the spans of a phrase in a text as whole words, in any case and with any blanks between them.

    `5` does not stand in `15`, `5.5` or `1,500`. In scripts without blanks, words have no ends to look for. A place
    inside of `but_not` does not count, if that is a longer phrase around this one. A phrase of blanks stands nowhere.
    """
    parts, longer = _alike(phrase).split(), _alike(but_not).split()
    if not parts:
        return
    text = _alike(text)
    # "no errors" is allowed where "errors" is forbidden: the longer phrase is blanked before the search.
    if longer and longer != parts and any(_places(" ".join(longer), parts)):
        for start, end in _places(text, longer):
            text = text[:start] + "\0" * (end - start) + text[end:]
    yield from _places(text, parts)


def _alike(text: str) -> str:
    """Return a text in lower case with straight apostrophes, at the same offsets."""
    return lowered(text).replace("’", "'").replace("ς", "σ")


def _places(text: str, parts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of consecutive words, without a regular expression: compiling one takes longer."""
    at = text.find(parts[0])
    while at >= 0:
        end = _end_of_row(text, at, parts)
        if end and _is_whole(text, at, end):
            yield at, end
            at = text.find(parts[0], end)
        else:
            at = text.find(parts[0], at + 1)


def _end_of_row(text: str, at: int, parts: Sequence[str]) -> int:
    """Return the end of these words with blanks between them; 0 if other words stand there."""
    end = at + len(parts[0])
    for part in parts[1:]:
        start = end
        while text[start : start + 1].isspace():
            start += 1
        if start == end or not text.startswith(part, start):
            return 0
        end = start + len(part)
    return end


UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The characters of scripts without blanks between words (Chinese, Japanese, Thai), for a pattern."""
UNSPACED_SIGN = lazy(f"[{UNSPACED}]")
UNSPACED_RUN = lazy(f"[{UNSPACED}]+")


def words_or_pairs(text: str) -> list[str]:
    """List the words of a text as written; in scripts without blanks, each two characters in a row."""
    if text.isascii() or not UNSPACED_SIGN.search(text):
        return raw_words(text)
    runs = UNSPACED_RUN.sub(lambda run: f" {run.group()} ", text)
    return [pair for word in raw_words(runs) for pair in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) < 3 or not UNSPACED_SIGN.match(word):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no word or number continues at either end; in a script without blanks, always."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    goes_back = before and (_is_of_word(before[-1]) or (before[-1] in ".," and before[0].isdecimal()))
    # In Chinese, a phrase always touches other characters, so these do not make it part of a longer word.
    if goes_back and not UNSPACED_SIGN.match(text, start):
        return False
    goes_on = after and (_is_of_word(after[0]) or (after[0] in ".," and after[-1].isdecimal()))
    return not goes_on or bool(UNSPACED_SIGN.match(text, end - 1))


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


_GERMAN = frozenset(
    """
    aber auch auf aus bei beim bis bist dann dass dein deine deinem deinen deiner dem deshalb dich diese diesem diesen dieser dieses
    dir doch dort durch ein eine einem einen einer eines etwa euch euer für gegen gibt haben hatte ich ihm ihn ihnen ihr ihre
    ihrem ihren ihrer im ist jedoch kann kannst kein keine keinen laut leider mehr mit muss musst nach nicht nichts noch
    nur oder ohne ob rund schon sehr seit sich sie sind soll sonst sowie statt über um und uns unser unsere unter vom
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    voraussichtlich vor war waren warum wegen weil wenn werden wie wir wird wo wurde wurden zum zur zwischen uhr
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
_OPENERS = (["der"], ["das"])
"""German articles that count at the beginning of a text: elsewhere they may belong to a name."""
_AMBIGUOUS = frozenset("am an in so war also".split())  # noqa: SIM905
_OTHERS = frozenset(
    """
    am an da das den der des die du er es gleich hier hinweis in ja nein so von vor was wer zu zwar
    al algunos aquí como con cuando de del desde durante el ella ellas ellos en entre es esta este esto estos estas hasta
    hay la las le les lo los mientras muy más ni no o para pero por porque pues que quien se según ser si sí sin sobre son
    su sus también tras tu un una uno unos unas y ya
    après au aucun aucune aussi avant avec car ce cela ces cet cette chez comme comptez dans depuis des donc du dès elle
    elles et eux il ils je jusqu leur leurs là ma mais mes moi même ne non nos notre nous on ont ou où par pas pendant
    plus pour pourtant puis quand qui sa sans sauf selon sera ses sinon soit sont sous sur ta tes ton toutefois tous tout
    toute très une vers voici voilà vos votre vous à être
    """.split()  # noqa: SIM905
)


def is_function_word(word: str) -> bool:
    """Return whether a word in lower case carries no meaning in one of these languages."""
    return word in _GERMAN or word in _OTHERS


def is_german(text: str) -> bool:
    """Return whether a text has more German-only words than English function words."""
    words = bare_words(text.lower())
    german = sum(map(_GERMAN.__contains__, words)) + (words[:1] in _OPENERS)
    if not german:
        return False
    return german > sum(not carries_content(word) for word in words if word not in _GERMAN | _AMBIGUOUS)
