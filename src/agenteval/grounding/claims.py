"""What an output claims: its claim units, without those that claim nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agenteval.grounding.apparatus import DOCUMENTS
from agenteval.grounding.links import links
from agenteval.grounding.quantities import quantities
from agenteval.language.questions import is_question
from agenteval.lazyregex import lazy
from agenteval.text import Block, blocks, composed, fold, sentences

LONGEST_KEPT = 10_000
"""Characters of the outputs whose claims are kept: memory stays bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim unit that claims something.

    `worded` says whether its wording has to be supported: not that of a lead-in to a list, nor of what the
    agent says about its own work. `listed` is the length of the list that it leads in, or how many results the agent
    says it found. `lacks` has its clauses that say what the sources lack: names in them need no support.
    `refers` says whether it speaks of something that was named before, "It also costs …", and `before` has the sentences of its
    paragraph before it that may have named that.
    """

    text: str
    worded: bool = True
    listed: int = 0
    lacks: tuple[str, ...] = ()
    refers: bool = False
    before: str = ""


_LABEL = r"\W{0,4}(?:sources?|references?|citations?|links?|further reading|read more)\W{0,4}"
_SOURCES_LINE = lazy(rf"{_LABEL}(?::|\Z)")
_SOURCES_LABEL = lazy(rf"(?i)\A{_LABEL}(?::\W*|\Z)")
_COURTESY = lazy(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks|thank you|sure|certainly|of course|ok|okay|done"
    r"|great|happy to help|you're welcome|no problem|any ?time|my pleasure|will do|on it|got it|bye|goodbye|cheers|yes|no|absolutely|alright|enjoy|have fun|good luck|(?:good|great) news"
    r"|hallo|guten (?:tag|morgen|abend)|danke|gerne|klar|natürlich|gute (?:reise|nachrichten)|viel (?:spaß|erfolg|glück)|viele grüße"
    r"|hola|gracias|claro|de nada|por supuesto|buen(?:os|as) (?:días|tardes|noches|noticias)|buen (?:viaje|provecho)"
    r"|bonjour|bonsoir|salut|merci|bien sûr|avec plaisir|de rien|bon(?:ne)? (?:journée|soirée|route|chance|nouvelle|voyage|appétit))"
    r"(?:,? (?:there|all|everyone|team|again|thing|you|so much|[A-Z]\w+))?\W*",
    re.IGNORECASE,
)
_FAREWELL = lazy(
    r"\W*(?:(?:i )?hope (?:this|that|it) (?:helps|is useful)|that's (?:all|it)(?: for (?:now|today|this (?:morning|week)))?"
    r"|(?:have|enjoy|wish(?:ing)? you) (?:(?:an?|the|your|the rest of (?:the|your)) )?(?:(?-i:[a-z]+) )?(?:day|one|morning|afternoon|evening|night"
    r"|weekend|week|holidays?|trip)(?: ahead)?|(?:see|talk to) you(?: (?:soon|later|then|around|tomorrow|next week))?"
    r"|take care|stay tuned|until (?:then|tomorrow|next time)|(?:best|kind|warm) (?:regards|wishes))"
    r"(?:,? (?:there|all|everyone|team|again|[A-Z]\w+))?\W*",
    re.IGNORECASE,
)
_OWN_WORK = lazy(
    r"\W*(?:(?:sorry|unfortunately|apologies)\b[^.]{0,20}\b)?(?:i|we)(?:'ve|'m|'ll| have| am| will)? ?(?:was |were )?"
    r"(?:not |also |just |only )?(?:could|couldn't|can|can't|cannot|unable|don't|didn't|did not|do not|searched|looked"
    r"|checked|sent|fetched|gathered|compiled|summari[sz]ed|hope|tried|apologi[sz]e|sorry|afraid|happy|glad|saved|noted"
    r"|updated|prepared)\b"
    r"|\W*(?:let me know|feel free|please|sorry|here(?:'s| is| are)|below (?:is|are)|if you(?:'d| would)? (?:like|want|need))\b"
    r"|\W*(?:got it|(?:all )?(?:done|set|saved|sent|scheduled|noted|updated|recovered|finished|checked|added|booked))\b(?=\W*\Z|\s?[:,.!\u2014\u2013-])"
    r"|\W*(?:hier (?:ist|sind)|sag (?:mir )?bescheid|melde dich|aquí (?:tienes|está)|avísame|dime si|voici|n'hésite)\b"
    r"|\W{0,4}(?:[\w']{1,30} ){1,4}(?:sent|saved|done|scheduled|checked|updated|added|created|booked|removed|deleted)\W*\Z"
)


_FOUND = lazy(
    r"\W*(?:(?:yes|sure|ok|okay)\W+)?(?:i|we)(?:'ve| have)? (?:found|got|see) (\d{1,2}|[a-z]{3,6}) (?:[\w-]{1,20} ){0,2}"
    r"(?:results?|articles?|pages?|hits|matches|sources|entries|reports?|stories)\b"
)
"""How many results the agent says it found: it counts what it was given."""
_LACKS = lazy(
    r"\bi (?:still |also |just )?(?:(?:do|did|could|have|ca)(?:n't| not)|cannot|was(?:n't| not) able to|(?:was|am) unable to)"
    r" (?:yet |actually )?(?:see|find|found|spot|seen|have(?! to\b)|check|tell|say|know|verify|confirm|locate)\b"
    r"|\bi (?:have|found|see|saw|got) (?:no (?!doubt|problem)|nothing (?:about|on|for|from|in|under|by|that)|none)\b"
    rf"|\b(?:{DOCUMENTS}) (?:also )?(?:(?:do|does|did)(?:n't| not)|never) (?:actually |explicitly |really )?"
    r"(?:say|mention|give|state|specify|tell|indicate|list|cover|include|show)\b"
    r"|\bsays? nothing (?:about|on|of)\b|\bno mention of\b"
    r"|\bich [^.]{0,60}\b(?:nichts|nicht|keine?n?)\b[^.]{0,60}\b(?:gefunden|finden|sehen|gesehen|entdeckt)\b"
    r"|\bich (?:finde|sehe)\b[^.]{0,60}\b(?:nichts|keine?n?)\b|\bsteht\b[^.]{0,60}\b(?:nicht|nichts)\b"
    r"|\bno (?:he|hemos) (?:encontrado|visto)\b|\bno (?:encontré|encuentro|veo|se (?:menciona|indica))\b"
    r"|\bje n'ai (?:rien |pas )?(?:trouvé|vu)|\bje ne (?:vois|trouve)\b|\bne (?:précise|mentionne|dit|indique)(?:nt)? (?:pas|rien)\b"
)
"""What the agent says that the results do not have."""
_LACK_SIGNS = ("not", "n't", "unable", "noth", " no ", "none", "never", "nicht", "kein", " ne ", " n'ai")
_ANOTHER = r"[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,3}"
_CLAUSE_END = lazy(
    r"[;:\u2013\u2014]|\s-\s"
    rf"|,(?! ?(?:or|nor|oder|ni|ou)\b)(?! (?:(?:and|und|y|et) )?{_ANOTHER}(?:,| (?:or|and|nor|oder|und|ni|y|ou|et)\b|\W*\Z))"
    rf"|\b(?:and|und|y|et)\b(?= (?:i|it|he|she|they|we|there|that|this|er|sie|es|il|elle|él|ella)\b| {_ANOTHER} (?!or\b|and\b|in\b|on\b|at\b|for\b|from\b|with\b|by\b|oder\b|und\b)[a-zß-ÿ])"
    r"|\b(?:but|however|(?:al)?though|so|because|since|while|except|besides|only|who|whose|aber|jedoch|weil|da|pero|porque"
    r"|mais|car)\b"
)
"""Where a clause ends; "Anna, Tom or Berlin" is one list of names."""


_REFERRING = lazy(
    r"(?i)(?:\A\W*|[;:\u2013\u2014]\s*|, |\b(?:and|but|so|und|aber) )(?:it|it's|its|that|they|they're|he|she|both|neither|er|sie|es|beide)\b"
)
"""How a clause begins that is about something named before it."""


def claims(output: str) -> tuple[Claim, ...]:
    """What an output claims: its claim units, without questions, greetings, headings, code and references."""
    return _kept(output) if len(output) <= LONGEST_KEPT else _found(output)


@lru_cache(maxsize=32)  # an output is judged again with each of its mutants
def _kept(output: str) -> tuple[Claim, ...]:
    return _found(output)


def _found(output: str) -> tuple[Claim, ...]:
    found: list[Claim] = []
    parts = [
        block
        for block in blocks(_EMOJI_LIST.sub(_with_bullets, composed(output)))
        if block.kind not in ("code", "rule")
    ]
    in_sources = False
    for index, block in enumerate(parts):
        is_item = block.kind in ("bullet", "number", "table")
        if block.kind == "heading" or not is_item:
            in_sources = bool(_SOURCES_LINE.match(fold(block.text)))
        if block.kind == "heading":
            continue
        if in_sources or _SOURCES_LINE.match(fold(block.text)):
            found += _of_source(block.text)
            continue
        listed = 0 if is_item else _items_below(parts, index)
        pieces = [block.text] if is_item else [*_sentences(block.text)]
        before = ""
        for place, piece in enumerate(pieces):
            leads_in = place == len(pieces) - 1 and _leads_in(piece, listed)
            refers = bool(_REFERRING.search(piece))
            before = before if refers else ""
            claim = _claim(piece, leads_in=leads_in, listed=listed if leads_in else 0)
            found += (replace(each, refers=True, before=before) for each in claim) if refers else claim
            before = f"{before} {piece}"
    return tuple(found)


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
"""Lines in a row that each begin with an emoji: chats have them in the place of bullets."""


def _of_source(line: str) -> Iterator[Claim]:
    """The claim of a line in a list of sources: its hard facts, where it has numbers. A name or a link is only a reference."""
    named = _SOURCES_LABEL.sub("", line)
    if any(map(str.isdigit, named)) and not links(named):
        yield Claim(text=named, worded=False)


def _with_bullets(lines: re.Match[str]) -> str:
    return "".join(f"- {line}" for line in lines.group().splitlines(keepends=True))


def _leads_in(piece: str, listed: int) -> bool:
    """Whether a sentence introduces what follows: it ends in a colon, or is the title of a list."""
    end = piece.rstrip("*_ ")[-1:]
    return end in (":", "：") or (listed > 0 and end.isalnum())  # noqa: RUF001


def _items_below(parts: Sequence[Block], index: int) -> int:
    count = 0
    for block in parts[index + 1 :]:
        if block.kind not in ("bullet", "number"):
            break
        count += 1
    return count


def _claim(text: str, *, leads_in: bool, listed: int) -> Iterator[Claim]:
    folded = fold(text).replace("’", "'")  # noqa: RUF001
    if not any(map(str.isalnum, text)) or _is_courtesy(text) or is_question(text):
        return
    found = _FOUND.match(folded)
    lacks, rest = _lacks(text) if any(map(f" {folded}".__contains__, _LACK_SIGNS)) else ((), True)
    worded = not (leads_in or not rest or found or _OWN_WORK.match(folded))
    yield Claim(
        text=text, worded=worded, listed=listed or (_number(found.group(1)) if found else 0), lacks=lacks
    )


def _lacks(text: str) -> tuple[tuple[str, ...], bool]:
    """The clauses that say what the sources lack, and whether there are any others."""
    clauses = [clause for clause in _CLAUSE_END.split(text) if any(map(str.isalnum, clause))]
    lacks = tuple(clause for clause in clauses if _LACKS.search(fold(clause).replace("’", "'")))  # noqa: RUF001
    return lacks, len(lacks) < len(clauses)


def _number(written: str) -> int:
    stated = quantities(written)
    return int(min(stated[0].values)) if stated else 0


def _is_courtesy(text: str) -> bool:
    return bool(_COURTESY.fullmatch(text) or _FAREWELL.fullmatch(text.replace("’", "'")))  # noqa: RUF001
