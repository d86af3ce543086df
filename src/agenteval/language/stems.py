"""Stems: a common form for all forms of one word, `released` and `releases`, `rose` and `rising`.

English words in ASCII are stemmed by Snowball; words of other scripts are compared as they stand, folded.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from agenteval.text import fold

if TYPE_CHECKING:
    from Stemmer import Stemmer


@cache
def _english() -> "Stemmer":
    from Stemmer import Stemmer

    return Stemmer("english", 0)  # the caches here are smaller


def bare_forms(words: Iterable[str]) -> list[str]:
    """Words folded, without their possessive endings: all at once, which takes half the time."""
    text = fold("\n".join([*words, ""])).replace("’", "'")  # noqa: RUF001
    return text.replace("'s\n", "\n").replace("'\n", "\n").split("\n")[:-1]


def stems(bare: Sequence[str]) -> list[str]:
    """The stems of words that are bare."""
    english = [_IRREGULAR.get(word, word) for word in bare if word.isascii() and word.isalpha()]
    stemmed = iter(_english().stemWords(english))
    return [next(stemmed) if word.isascii() and word.isalpha() else word for word in bare]


_IRREGULAR = {
    form: forms[0]
    for forms in map(
        str.split,
        """
        begin began begun
        break broke broken
        bring brought
        build built
        buy bought
        catch caught
        choose chose chosen
        come came
        draw drew drawn
        drive drove driven
        eat ate eaten
        fall fell fallen
        feel felt
        fight fought
        find found
        fly flew flown
        forget forgot forgotten
        get got gotten
        give gave given
        go went gone
        grow grew grown
        hear heard
        hide hid hidden
        hold held
        keep kept
        know knew known
        lead led
        leave left
        lend lent
        lose lost
        make made
        mean meant
        meet met
        pay paid
        ride rode ridden
        rise rose risen
        run ran
        say said
        see saw seen
        sell sold
        send sent
        shake shook shaken
        show shown
        sing sang sung
        sink sank sunk
        sit sat
        sleep slept
        speak spoke spoken
        spend spent
        stand stood
        steal stole stolen
        strike struck
        swim swam swum
        take took taken
        teach taught
        tell told
        think thought
        throw threw thrown
        wear wore worn
        win won
        write wrote written
        man men
        woman women
        child children
        person people
        """.strip().splitlines(),
    )
    for form in forms[1:]
}
"""Forms that no ending tells: common verbs and nouns only, where the other meaning of the form is rare."""
