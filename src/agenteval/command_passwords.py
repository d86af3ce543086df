"""Finds the passwords that well-known programs take behind a short option: `curl -u bob:…`, `mysql -p…`.

Long options such as `--password` tell of themselves what they hold; `agenteval.secrets` finds those. The time is linear in
the length of the text.
"""

from collections.abc import Iterator

from agenteval.lazyregex import lazy

_BETWEEN = r"(?:[^\n|;&\\]|\\\r?\n?|&(?!&)){0,200}?"
"""What may stand before the option in the same command, also on lines that a backslash continues."""
_USER = r"""[^:\s"'\\]{1,128}:"""
_PROGRAMS = {
    b"curl": (r"curl", rf"(?:-[A-Za-z]{{0,8}}[uU][ ]{{0,4}}|--(?:proxy-)?user[ =])(?P<quote>[\"'])?{_USER}"),
    b"mysql": (r"mysql\w{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
    b"mariadb": (r"mariadb[\w-]{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
    b"mongo": (r"mongo[a-z]{0,8}", r"-p[ ]{1,4}(?P<quote>[\"'])?"),
    b"sshpass": (r"sshpass", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
    b"redis-cli": (r"redis-cli", r"-a[ ]{1,4}(?P<quote>[\"'])?"),
    b" login ": (r"(?:docker|podman)[ ]login", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
}
"""For each program a word that is in all its commands, its name, and the option with all that stands before the password.

A port that a container publishes (`-p3306:3306`) is no password of the database that it runs.
"""
_GIVEN = r"""(?(quote)(?P<quoted>[^"'\\\n]{2,256})(?P=quote)|(?!-)(?P<bare>[^\s"'`\\|;&<>(){}\[\]]{2,256}))"""
_COMMANDS = [
    (word, lazy(rf"(?x)(?<![\w-]){program}[ ]{_BETWEEN}(?<=[ ]){option}{_GIVEN}"))
    for word, (program, option) in _PROGRAMS.items()
]


def might_be_command(data: bytes) -> bool:
    """Whether there is an option, and one of the programs is spoken of: if not, there is no command of it.

    Most texts have no option. Looking for one takes a fraction of the time that looking for all programs does.
    """
    at = data.find(b" -")
    while at >= 0 and data[at + 2 : at + 3] in b" ":
        at = data.find(b" -", at + 2)
    return at >= 0 and any(word in data for word in _PROGRAMS)


def command_passwords(text: str, data: bytes) -> Iterator[tuple[int, int]]:
    """Where values stand that are passwords if they are no mere stand-ins; `data` is the text in UTF-8."""
    for word, form in _COMMANDS:
        for match in form.finditer(text) if word in data else ():
            group = match.lastgroup or ""
            value = match[group] if group == "quoted" else match[group].rstrip(".,:!?")  # a sentence may end
            yield match.start(group), match.start(group) + len(value)
