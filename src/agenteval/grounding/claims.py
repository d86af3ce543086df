"""What an output claims: its bullets, table rows and sentences, without those that claim nothing."""

# ruff: noqa: RUF001 - apostrophes and colons of other scripts are meant

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from agenteval.grounding.facts import too_large
from agenteval.grounding.links import links
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import Block, blocks, composed, fold, sentences
from agenteval.text.questions import is_question
from agenteval.text.words import is_german

MOST_CLAIMS = 5_000
"""Claims of an output that are judged."""
LONGEST_KEPT = 10_000
"""Characters of the outputs whose claims are kept: memory stays bounded."""


class Claim(NamedTuple):
    """A claim unit that claims something.

    `worded` says whether it is judged by more than its hard facts: not a lead-in to a list, nor what the agent says about
    its own work. `listed` is the length of the list that it leads in. `lacks` says that it tells what the sources do not
    have: names in it need no source. `refers` says that it speaks of something named before, as in "It also costs …", and
    `before` has the sentences of its paragraph that may name it. `german` tells the language of the
    output, which writes all nouns with a capital.
    """

    text: str
    worded: bool = True
    listed: int = 0
    lacks: bool = False
    refers: bool = False
    before: str = ""
    german: bool = False


def claims(output: str) -> tuple[Claim, ...]:
    """What an output claims: its claim units, without questions, greetings, headings, code and lists of sources.

    Raises `AssertionCrashError` (`assertion.too_large`) when they are too many.
    """
    return _kept(output) if len(output) <= LONGEST_KEPT else _found(output)


def _found(output: str) -> tuple[Claim, ...]:
    found: list[Claim] = []
    german = is_german(output)
    parts = [block for block in blocks(_with_bullets(composed(output))) if block.kind not in ("code", "rule")]
    in_sources = False
    for place, block in enumerate(parts):
        is_item = block.kind in ("bullet", "number", "table")
        begins_sources = bool(_SOURCES.match(fold(block.text[:40])))
        if block.kind == "heading" or not is_item:
            in_sources = begins_sources
        if block.kind == "heading":
            continue
        if in_sources or begins_sources:
            found += _of_source(block.text)
        elif is_item:
            found += _claim(block.text)
        else:
            found += _of_paragraph(block.text, _items_below(parts, place))
        if len(found) > MOST_CLAIMS:
            raise too_large(f"it makes more than {MOST_CLAIMS:,} claims")
    return tuple([claim._replace(german=True) for claim in found] if german else found)


_kept = lru_cache(maxsize=32)(_found)  # an output is judged again with each of its mutants

_SOURCES = lazy(
    r"\W{0,4}(?:sources?|references?|citations?|links?|further reading|read more)\W{0,4}(?::|\Z)\W*"
)


def _of_source(line: str) -> Iterator[Claim]:
    """The claim of a line in a list of sources: its hard facts, where it has numbers. A name or a link is only a reference."""
    label = _SOURCES.match(line.lower())
    named = line[label.end() :] if label else line
    if any(map(str.isdigit, named)) and not links(named):
        yield Claim(named, worded=False)


def _of_paragraph(text: str, below: int) -> Iterator[Claim]:
    """The claims of a paragraph; a list of some items stands below it."""
    pieces = list(_sentences(text))
    before = ""
    for place, piece in enumerate(pieces):
        end = piece.rstrip("*_ ")[-1:]
        leads = place == len(pieces) - 1 and (end in (":", "：") or (below > 0 and end.isalnum()))
        refers = bool(_REFERS.match(piece))
        claim = _claim(piece, leads=leads, listed=below if leads else 0)
        yield from (each._replace(refers=True, before=before) for each in claim) if refers else claim
        before = f"{before} {piece}"[-LONGEST_BEFORE:] if refers else piece


LONGEST_BEFORE = 500
"""Characters of the sentences before one that it may speak of."""
_REFERS = lazy(
    r"(?i)\W*(?:(?:and|but|so|und|aber) )?(?:it|it's|its|that|they|they're|he|she|both|neither|er|sie|es|beide)\b"
)
"""How a sentence begins that is about something named before it."""


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph. In a chat an emoji may end one, too, where the next word has a capital."""
    for sentence in sentences(text):
        start = 0
        for match in () if text.isascii() else _ENDS_IN_EMOJI.finditer(sentence):
            yield sentence[start : match.end()].rstrip()
            start = match.end()
        yield sentence[start:]


_PICTURE = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_ENDS_IN_EMOJI = lazy(rf"\w\W{{0,3}}?(?![\U0001f1e6-\U0001f1ff]){_PICTURE}\ufe0f?\s+(?=[^\W\d_a-zß-ÿ])")
_EMOJI_LIST = lazy(rf"(?m)(?:^{_PICTURE}.*(?:\n|\Z)){{2,}}")


def _with_bullets(output: str) -> str:
    """The output with bullets before lines in a row that each begin with an emoji: chats have those in their place."""
    if output.isascii():
        return output
    return _EMOJI_LIST.sub(
        lambda lines: "".join(f"- {line}" for line in lines.group().splitlines(keepends=True)), output
    )


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


_COURTEOUS = frozenset(
    """
    hi hello hey good great nice luck thanks thank sure certainly course ok okay done welcome problem pleasure bye goodbye cheers
    yes no absolutely alright enjoy hope care tuned regards wishes see help hallo guten danke gerne klar natürlich gute viel viele
    hola gracias claro nada supuesto buenos buenas buen bonjour bonsoir salut merci bien plaisir rien bon bonne that's any anytime
    """.split()  # noqa: SIM905 - a list of them would be longer
)
_BESIDE_COURTESY = frozenset(
    """
    morning afternoon evening night day weekend week one trip news you very so much of happy to you're time my will do
    on it got have a an the rest your fun i this that helps useful all for today now soon later then around tomorrow next take
    stay until best kind warm there everyone team again tag morgen abend reise nachrichten spaß erfolg glück grüße de por días
    tardes noches noticias viaje provecho sûr avec journée soirée route chance nouvelle voyage appétit
    """.split()  # noqa: SIM905
)
"""Words of greetings, thanks and farewells, and those beside them: a sentence of nothing else claims nothing."""
MOST_OF_COURTESY, LONGEST_COURTESY = 12, 120
_BETWEEN = lazy(r"[^\w'’]+")


def _is_courtesy(text: str) -> bool:
    """Whether a sentence says nothing but hello, thank you or goodbye, perhaps to somebody."""
    if len(text) > LONGEST_COURTESY:
        return False
    said = [word.lower().replace("’", "'") for word in _BETWEEN.split(text) if word]
    is_to_somebody = len(said) > 1 and _BETWEEN.sub(" ", text).split()[-1].istitle()
    said = said[:-1] if is_to_somebody and said[-1] not in _COURTEOUS else said
    return (
        len(said) <= MOST_OF_COURTESY
        and not _COURTEOUS.isdisjoint(said)
        and all(word in _COURTEOUS or word in _BESIDE_COURTESY for word in said)
    )


_I = frozenset("i we i've i'm i'll we've we're we'll".split())  # noqa: SIM905
_BESIDE = frozenset("have am are will was were not also just only still now then already".split())  # noqa: SIM905
_DID = frozenset(
    """
    could couldn't can can't cannot unable don't didn't did do searched looked checked found sent fetched gathered compiled
    summarized summarised hope tried apologize apologise sorry afraid happy glad saved noted updated prepared
    """.split()  # noqa: SIM905
)
_DONE = frozenset(
    """
    done set saved sent scheduled noted updated recovered finished checked added booked created removed deleted
    """.split()  # noqa: SIM905
)
_BEGINNINGS = tuple(
    """let me know|feel free|please |sorry|here's|here is|here are|below is|below are|if you like|if you want|if you need|if you'd
    |if you would|got it|hier ist|hier sind|sag bescheid|sag mir bescheid|melde dich|aquí tienes|aquí está|avísame|dime si|voici
    |n'hésite""".replace("\n    ", "").split("|")
)
"""How sentences begin that offer something, or lead to it."""
MOST_OF_REPORT = 5
"""Words of a sentence such as "Report sent."."""


def _is_own_work(folded: str) -> bool:
    """Whether a sentence is about what the agent did, or offers: "I searched …", "Done: …", "Report sent."."""
    bare = folded.lstrip("*_ \t-–—>!.,")
    if bare.startswith(_BEGINNINGS):
        return True
    said = bare[:80].split()
    if said[:1] == ["all"]:
        said = said[1:]
    first = said[0] if said else ""
    if first.strip(".,:!*") in _DONE and (len(said) == 1 or not first[-1].isalnum()):
        return True
    if len(said) <= MOST_OF_REPORT and said and said[-1].strip(".!*") in _DONE and len(said) > 1:
        return True
    if first in ("unfortunately", "unfortunately,", "apologies,"):
        said = said[1:]
    if not said or said[0] not in _I:
        return False
    verb = next((word for word in said[1:] if word not in _BESIDE), "")
    return verb.strip(".,:!") in _DID


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
"""What the agent says that the results do not have."""
