"""Explains the errors of YAML parsers to the author of the file.

Both parsers, libyaml and PyYAML's own, say what they were reading (`context`) and what they missed (`problem`), in
terms of parsing. Imported only when a file is not YAML.
"""

import re
from typing import Any, NamedTuple

import yaml

_KEY_ALONE = re.compile(r"(?:[ ]*-[ ]+)*[ ]*(?P<key>[A-Za-z0-9_.-]+)[ ]*")
"""What stands before a colon when the key is the first thing of its line."""
_LAST_LINE = re.compile(r"^(?:[ ]*-[ ]+)*[ ]*(?P<words>\S[^\n]*)\n\s*\Z", re.MULTILINE)
"""The last line that is not empty, and where its words begin."""


class Trouble(NamedTuple):
    """What is wrong, at which offset of the text, and what to do."""

    message: str
    offset: int
    next_step: str


def trouble(text: str, error: yaml.YAMLError) -> Trouble | None:
    """What an error of the parser means; None for one without a place."""
    at = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if at is None:
        return None
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    begun = getattr(error, "context_mark", None) or at
    return (
        _of_signs(text, problem, at.index)
        or _of_quotes(problem, context, at, begun)
        or _of_brackets(context, at, begun)
        or _of_indentation(context, at, begun)
        or Trouble(f"not valid YAML: {problem}{f' {context}' if context else ''}", at.index, "")
    )


def _of_signs(text: str, problem: str, offset: int) -> Trouble | None:
    """A character that is not allowed where it stands."""
    sign = text[offset : offset + 1]
    if "tab character" in problem or ("cannot start any token" in problem and sign == "\t"):
        return Trouble("a tab cannot indent YAML", offset, "indent with spaces")
    if "cannot start any token" in problem:
        return Trouble(f"a text cannot begin with {sign!r} here", offset, "put the text in quotes")
    if "sequence entries are not allowed" in problem:
        return Trouble("a list cannot begin here", offset, "begin it on a line of its own, or write [a, b]")
    if "mapping values are not allowed" in problem:
        return _of_a_colon(text, offset)
    return None


def _of_a_colon(text: str, offset: int) -> Trouble:
    """A key where the parser expects more of the text before it."""
    line = text.rfind("\n", 0, offset) + 1
    key = _KEY_ALONE.fullmatch(text, line, offset)
    if not key:
        return Trouble("a key with a value cannot stand here", offset, "put a text that holds ': ' in quotes")
    before = _LAST_LINE.search(text, 0, line)
    if before and key.start("key") - line <= before.start("words") - before.start():
        return _no_key(before.start("words"))
    return Trouble(
        "this key is indented further than the one before it, which has a value",
        key.start("key"),
        "indent keys that belong together equally",
    )


def _no_key(offset: int) -> Trouble:
    return Trouble(
        "expected a key with ': ' after it, a colon and a space",
        offset,
        "write `key: value`; indent a text that goes on in a further line",
    )


def _of_quotes(problem: str, context: str, at: Any, begun: Any) -> Trouble | None:
    """A text in quotes, or one that needs them."""
    if "quoted scalar" in context and ("escape" in problem or "hexdecimal" in problem):
        return Trouble(
            "in double quotes a backslash begins an escape, and this is none",
            at.index,
            "put a regular expression or a path in single quotes, where a backslash is one",
        )
    if "quoted scalar" in context:
        return Trouble("the quote that begins here is not closed", begun.index, "close it")
    if "scanning a tag" in context:
        return Trouble("a text cannot begin with '!' here", begun.index, "put the text in quotes")
    return None


def _of_brackets(context: str, at: Any, begun: Any) -> Trouble | None:
    """A list or mapping in brackets."""
    for kind, opening, closing in (("flow mapping", "{", "}"), ("flow sequence", "[", "]")):
        if f"parsing a {kind}" in context:
            return Trouble(
                f"expected ',' or {closing!r} here: {opening!r} in line {begun.line + 1} is still open",
                at.index,
                "add what is missing; put a text that holds ', \", #, a comma or a bracket in quotes",
            )
    if "flow node" in context:
        return Trouble(
            "expected a value here",
            at.index,
            "add it, or close the bracket; put a text that begins with '#' in quotes, or it is a comment",
        )
    return None


def _of_indentation(context: str, at: Any, begun: Any) -> Trouble | None:
    """A line that stands at the wrong column, or lacks what makes it a key or an item."""
    if "block collection" in context:
        return Trouble(
            f"the list that begins in line {begun.line + 1} cannot go on like this",
            at.index,
            "begin each item with '- ', a dash and a space, at one column; indent the keys of an item equally",
        )
    if "block mapping" in context:
        return Trouble(
            f"the mapping that begins in line {begun.line + 1} cannot go on like this",
            at.index,
            "indent its keys equally; or else a quote before this place is not closed, or closed too early",
        )
    if "simple key" in context:
        return _no_key(begun.index)
    return None
