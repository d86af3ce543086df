"""What a script of `sed` or `perl -pi` changes in a file, as far as its words tell."""

import re

from agenteval.lazyregex import lazy

LONGEST_SCRIPT = 2_000
"""Characters of a script of `sed` that is read: a longer one does too much to tell."""
_EDIT = lazy(
    r"""[\s;]*(?:
      [\d,$]*s(?P<mark>[/|#,!@%:~])(?P<old>(?:\\.|(?!(?P=mark))[^\\\n])+)(?P=mark)
      (?P<new>(?:\\.|(?!(?P=mark))[^\\\n])*)(?P=mark)[gIi0-9]*
    | /(?P<gone>(?:\\.|[^/\\\n])+)/(?:d|c\\?[ \t]*\n?(?P<line>[^\n]+))
    )""",
    re.VERBOSE,
)
_REFERENCE = lazy(r"(?<!\\)&|\\\d|\$[\w{(]")
_LINE = lazy(r"\^(.*)(?<!\\)\$", re.DOTALL)
_ESCAPED = lazy(r"\\(\W)")


def edits(script: str) -> list[tuple[str | None, str]]:
    """What a script puts into a file, and in the place of what; None: it does more than its words tell."""
    found: list[tuple[str | None, str]] = []
    at = 0
    while script[at:].strip(" ;\n"):
        match = _EDIT.match(script, at) if len(script) <= LONGEST_SCRIPT else None
        if not match or _REFERENCE.search(match["new"] or ""):
            return [(None, "")]
        put, old = match["new"] or match["line"] or "", match["old"] or match["gone"]
        if whole := _LINE.fullmatch(old):  # a part of one could be elsewhere in a line: its anchor stays
            old = whole[1]
        found.append((_ESCAPED.sub(r"\1", put.replace("\\n", "\n")), _ESCAPED.sub(r"\1", old)))
        at = match.end()
    return found
