"""What GitHub's runner makes of a log: which of its lines are workflow commands."""

import re
import unicodedata


def commands(log: str) -> list[str]:
    """The names of the commands that the lines of a log start, in order.

    A line is one when it begins with `::name …::`, after blanks and what is not seen, or has `##[name …]` anywhere.
    """
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        seen = "".join(sign for sign in line if unicodedata.category(sign)[0] not in "CM").strip()
        if (command := re.match(r"::([^ :]*)[^:]*(?::[^:]+)*::", seen)) or (
            command := re.search(r"##\[([^ \]]*)[^\]]*\]", seen)
        ):
            found.append(command[1])
    return found
