"""The paths that a program in Python or JavaScript puts together, as far as its text tells."""

import re

from agenteval.text.regexes import lazy


def with_paths(code: str) -> str:
    """The code with its paths in one piece: `Path('a') / b / 'c'` has `a/*/c`, `join('a', 'b')` has `a/b`."""
    code = _FILLED.sub("*", code)
    code = _JOINED.sub(_joined, code)
    code = _DIVIDED.sub(lambda match: "/" + "*/" * (match[0].count("/") - 1), code)
    code = _GLOB.sub(lambda match: "/**/" if match[1] else "/", code)
    code = _COPIED.sub(r"\1/**", code)
    return _WALKED.sub(r"\1/**", code) if _READS.search(code) else code


def commands_in(code: str) -> list[str]:
    """The shell commands that the code runs."""
    return [match[2] for match in _RUN.finditer(code)]


def folder_of(code: str) -> str:
    """The folder that the code changes to; empty when it stays."""
    match = _CHANGED.search(code)
    return match[1] if match else ""


_FILLED = lazy(r"\$?\{[^{},'\"\n]{1,80}\}")
"""What is filled into a text: `f'groups/{name}'`."""
_JOINED = lazy(r"\b(?:join|joinpath|resolve|Path)\(([^()\n]*,[^()\n]*)\)")
_LITERAL = lazy(r"\s*[rbf]?(['\"])(.*)\1\s*", re.DOTALL)
_DIVIDED = lazy(r"['\"]\s*\)?\s*/\s*(?:\w+\s*/\s*){0,5}[rf]?['\"]")
_GLOB = lazy(r"['\"]\s*\)\s*\.\s*(r?)glob\(\s*[rf]?['\"]")
_WALKED = lazy(r"(\b(?:walk|walkSync)\(\s*['\"][^'\"\n]*)")
_COPIED = lazy(r"(\b(?:copytree|cpSync|move|rename)\(\s*['\"][^'\"\n]*)")
_RUN = lazy(
    r"\b(?:system|popen|Popen|run|call|getoutput|check_output|exec|execSync)\(\s*f?(['\"])([^\n]*?)\1"
)
_READS = lazy(r"\bopen\(|read")
_CHANGED = lazy(r"\bchdir\(\s*['\"]([^'\"\n]+)['\"]\s*\)")


def _joined(call: re.Match[str]) -> str:
    pieces = [match[2] if (match := _LITERAL.fullmatch(piece)) else "*" for piece in call[1].split(",")]
    while pieces and pieces[0] == "*":
        pieces.pop(0)
    return f" '{'/'.join(pieces)}' "
