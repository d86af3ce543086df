"""The arguments of a command: its options with their values, its scripts or patterns, and the files that it names."""

import re

from agenteval.lazyregex import lazy


def options_of(arguments: list[str], valued: str) -> tuple[list[str], dict[str, list[str]]]:
    """The arguments that are no options, and the options with their values.

    `valued` are the letters that a value follows, as it follows those of `_LONG` that have no `=`.
    """
    plain: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            plain += rest
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values = [value] if equals else [next(rest, "")] if name in _LONG else []
            options.setdefault(name, []).extend(values)
        elif len(word) > 1 and word[0] == "-":
            for place, letter in enumerate(word[1:], 2):
                options.setdefault(letter, [])
                if letter in valued:
                    options[letter].append(word[place:] or next(rest, ""))
                    break
        else:
            plain.append(word)
    return plain, options


_LONG = frozenset(
    {"after-context", "before-context", "context", "directory", "exclude", "exclude-dir", "file", "glob"}
    | {"iglob", "include", "max-args", "max-count", "max-depth", "max-procs", "regexp", "replace", "type"}
    | {"user"}
)


def after_options(words: list[str], valued: str) -> list[str]:
    """The words after the options that they begin with; `valued` are the letters that a value follows."""
    while words and words[0][:1] == "-":
        takes_next = len(words[0]) == 2 and words[0][1] in valued
        words = words[1 + takes_next :]
    return words


def scripts_and_files(arguments: list[str], *, scripted: bool) -> tuple[list[str], list[str]]:
    """The scripts, or patterns, among the arguments of a command, and the files.

    `scripted`: the command takes a script, which is its first argument where no option has one.
    """
    scripts: list[str] = []
    files: list[str] = []
    before = ""
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            files += rest
        elif scripted and _SCRIPT_NEXT.fullmatch(word):
            scripts.append(next(rest, ""))
        elif scripted and (script := _SCRIPT.fullmatch(word)):
            scripts.append(script[1])
        elif not word:
            files += [word] * (scripted and not IN_PLACE.match(before))  # BSD has `sed -i ''`
        elif option := _FILE_OPTION.fullmatch(word):
            files.append(option[1])
        elif word in ("--exclude", "--include"):
            next(rest, "")
        elif not word.startswith("-"):
            files.append(word)
        before = word
    return (files[:1], files[1:]) if scripted and not scripts else (scripts, files)


IN_PLACE = lazy(r"-[^\WMe]*i|--in-place")
"""How the option begins that has `sed` or `perl` change the files."""
_SCRIPT_NEXT = lazy(r"-\w*e|--(?:expression|regexp)")
_SCRIPT = lazy(r"--(?:expression|regexp)=(.*)", re.DOTALL)
_FILE_OPTION = lazy(r"--(?:file|files-from|target|target-directory)=(.+)", re.DOTALL)
