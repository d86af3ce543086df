"""Claims of an output: its bullets, table rows and sentences, without those that claim nothing."""

# ruff: noqa: RUF001 - apostrophes and colons of other scripts are meant

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from agenteval.grounding.facts import too_large
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import Block, blocks, composed, fold, sentences
from agenteval.text.questions import is_question
from agenteval.text.words import carries_content, is_function_word, is_german

MOST_CLAIMS = 5_000
"""The number of claims of an output that are judged at most."""
LONGEST_KEPT = 10_000
"""The longest output, in characters, of which the claims are cached: memory stays bounded."""


class Claim(NamedTuple):
    """A claim unit that claims something.

    `worded` is True if more than its hard facts is judged. It is False for the lead-in of a list and for sentences
    about the agent's own work. `listed` is the number of items under a lead-in. `lacks` is True if the claim names
    something that the sources do not have; such names need no source. `refers` is True if the claim is about
    something named before, as in "It also costs …"; `before` holds the earlier sentences of the paragraph, which may
    name it. `german` is True if the output is in German, which writes all nouns with a capital.
    """

    text: str
    worded: bool = True
    listed: int = 0
    lacks: bool = False
    refers: bool = False
    before: str = ""
    german: bool = False


def claims(output: str) -> tuple[Claim, ...]:
    """List the claims of an output: its claim units, without questions, greetings, headings and code.

    Raises `AssertionCrashError` (`assertion.too_large`) if there are too many.
    """
    return _kept(output) if len(output) <= LONGEST_KEPT else _found(output)


def _found(output: str) -> tuple[Claim, ...]:
    found: list[Claim] = []
    german = is_german(output)
    parts = [block for block in blocks(composed(output)) if block.kind not in ("code", "rule", "heading")]
    for place, block in enumerate(parts):
        if block.kind in ("bullet", "number", "table"):
            found += _claim(block.text)
        else:
            found += _of_paragraph(block.text, _items_below(parts, place))
        if len(found) > MOST_CLAIMS:
            raise too_large(f"it makes more than {MOST_CLAIMS:,} claims")
    return tuple([claim._replace(german=True) for claim in found] if german else found)


_kept = lru_cache(maxsize=32)(_found)  # an output is judged again with each of its mutants


def _of_paragraph(text: str, below: int) -> Iterator[Claim]:
    """List the claims of a paragraph, with a list of `below` items under it."""
    pieces = list(_sentences(text))
    before = ""
    for place, piece in enumerate(pieces):
        end = piece.rstrip("*_ ")[-1:]
        # "Here are three labs:" only leads to the list below it. As a claim of its own, "three" would need a source.
        leads = place == len(pieces) - 1 and (end in (":", "：") or (below > 0 and end.isalnum()))
        refers = bool(_REFERS.match(piece))
        claim = _claim(piece, leads=leads, listed=below if leads else 0)
        yield from (each._replace(refers=True, before=before) for each in claim) if refers else claim
        before = f"{before} {piece}"[-LONGEST_BEFORE:] if refers else piece


LONGEST_BEFORE = 500
"""The number of characters of earlier sentences that "it" may refer to."""
_REFERS = lazy(
    r"(?i)\W*(?:(?:and|but|so|und|aber) )?(?:it|it's|its|that|they|they're|he|she|both|neither|er|sie|es|beide)\b"
)
"""The beginning of a sentence about something named before it: "It …", "and they …"."""


def _sentences(text: str) -> Iterator[str]:
    """Split a paragraph into sentences; in a chat, an emoji before a capital ends one, too."""
    for sentence in sentences(text):
        start = 0
        # In a chat, "Booked 🎉 See you at 9" are two sentences, though no full stop divides them.
        for match in () if text.isascii() else _ENDS_IN_EMOJI.finditer(sentence):
            yield sentence[start : match.end()].rstrip()
            start = match.end()
        yield sentence[start:]


_PICTURE = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_ENDS_IN_EMOJI = lazy(rf"\w\W{{0,3}}?(?![\U0001f1e6-\U0001f1ff]){_PICTURE}\ufe0f?\s+(?=[^\W\d_a-zß-ÿ])")


def _items_below(parts: Sequence[Block], place: int) -> int:
    count = 0
    for block in parts[place + 1 :]:
        if block.kind not in ("bullet", "number"):
            break
        count += 1
    return count


def _claim(text: str, *, leads: bool = False, listed: int = 0) -> Iterator[Claim]:
    if not any(map(str.isalnum, text)) or is_question(text) or _is_courtesy(text):
        return
    folded = fold(text).replace("’", "'")
    lacks = any(map(folded.__contains__, _LACK_SIGNS)) and bool(_LACKS.search(folded))
    worded = not (leads or lacks or _is_own_work(folded))
    yield Claim(text, worded, listed, lacks)


_COURTESIES = frozenset(
    """
    hi hello hey good great nice luck thanks thank sure certainly course ok okay welcome problem pleasure bye goodbye cheers yes
    absolutely alright enjoy hope care tuned regards wishes see help helps that's any anytime hallo guten danke gerne klar natürlich viel
    viele hola gracias claro nada buenos buenas buen bonjour bonsoir salut merci bien plaisir bon bonne
    """.split()  # noqa: SIM905 - a list of them would be longer
)
_BESIDE_COURTESIES = frozenset(
    """
    morning afternoon evening night day weekend week one trip news rest fun useful today soon later time tomorrow next take stay
    best kind warm everyone team tag morgen abend reise nachrichten spaß erfolg glück grüße viaje días tardes noches rien
    journée soirée route voyage appétit
    """.split()  # noqa: SIM905
)
"""Words that stand beside those of a courtesy; a short sentence of only such words claims nothing."""
LONGEST_COURTESY = 120
_BETWEEN = lazy(r"[^\w'’]+")


def _is_courtesy(text: str) -> bool:
    """Return whether a sentence only greets, thanks or says goodbye, perhaps with somebody's name."""
    if len(text) > LONGEST_COURTESY:
        return False
    written = [word for word in _BETWEEN.split(text.replace("’", "'")) if word]
    said = [word.lower() for word in written if carries_content(word.lower())]
    # "Good morning, Ada" greets a person: the name at the end is not a claim.
    if len(said) > 1 and written[-1].istitle() and said[-1] not in _COURTESIES:
        said.pop()
    return not _COURTESIES.isdisjoint(map(str.lower, written)) and all(
        word in _COURTESIES or word in _BESIDE_COURTESIES or is_function_word(word) for word in said
    )


_OF_ITS_OWN = tuple(
    """i |i've|i'm|i'll|i'd|we |we've|we're|we'll|unfortunately, i|let me|feel free|please |sorry|here's|here is|here are|below |if you |got it|done
    |hier ist|hier sind|ich |sag |melde dich|aquí |avísame|dime |j'ai |voici|n'hésite""".replace(
        "\n    ", ""
    ).split("|")
)
"""The beginnings of sentences about the agent itself: reports of its work, offers, lead-ins."""
_DONE = frozenset("done set saved sent scheduled noted updated finished added booked created removed".split())  # noqa: SIM905
MOST_OF_REPORT = 5
"""The length of a short report, in words: "Report sent."."""


def _is_own_work(folded: str) -> bool:
    """Return whether a sentence is about the agent's own work: "I searched …", "Done: …", "Report sent."."""
    bare = folded.lstrip("*_ \t-–—>!.,")
    said = bare[:80].split()
    is_report = len(said) <= MOST_OF_REPORT and said[-1:] != [] and said[-1].strip(".!*") in _DONE
    return is_report or bare.startswith(_OF_ITS_OWN)


_LACK_SIGNS = ("not", "n't", "unable", "noth", " no ", "none", "never", "nicht", "kein", " ne ", "n'ai")
_LACKS = lazy(
    r"\bi (?:\w+ )?(?:(?:do|did|could|have|ca)(?:n't| not)|cannot|was(?:n't| not) able to|(?:was|am) unable to) (?:\w+ )?"
    r"(?:see|find|found|spot|seen|have(?! to\b)|check|tell|say|know|verify|confirm|locate)\b"
    r"|\bi (?:have|found|see|saw) (?:no (?!doubt|problem)|nothing|none)\b"
    r"|(?:do|does|did)(?:n't| not) (?:\w+ )?(?:say|mention|give|state|specify|tell|indicate|list|cover|include|show)\b"
    r"|\bsays? nothing\b|\bno mention of\b|\bnothing (?:about|on|in the)\b"
    r"|\b(?:keine?n?|nichts?)\b[^.]{0,60}\b(?:gefunden|finden|sehe|steht)\b|\bsteht\b[^.]{0,60}\b(?:nicht|nichts)\b"
    r"|\bno (?:he|hemos) (?:encontrado|visto)\b|\bno (?:encontré|encuentro|veo|se (?:menciona|indica))\b"
    r"|\bje n'ai (?:rien |pas )?(?:trouvé|vu)\b|\bne (?:précise|mentionne|dit|indique)(?:nt)? (?:pas|rien)\b"
)
"""Phrases by which an agent admits that the results lack something: "I couldn't find …", "does not mention"."""
