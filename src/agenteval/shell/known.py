"""Commands of a shell by what they do to files."""

SAY = frozenset({"echo", "printf"})
"""Commands whose words are text, not files."""
SILENT = frozenset({"", ":", "true"})
"""Commands that print nothing: a redirection alone empties a file."""
SYNTAX = frozenset({")", "}", "case", "done", "esac", "fi", "select"})
"""Words around commands."""
FILELESS = frozenset(
    {"break", "continue", "date", "exit", "false", "hostname", "id", "kill", "return", "seq"}
    | {"set", "shift", "shopt", "sleep", "uname", "unset", "wait", "which", "whoami"}
)
"""Commands that have nothing to do with files."""
NAMES = frozenset({"stat", "du", "test", "[", "[["})
"""Commands that tell of files without what is in them."""
WRITERS = frozenset({"mkdir", "tee", "touch"})
"""Commands that change every file they name."""
ENDERS = frozenset({"rm", "rmdir", "truncate", "unlink", "shred"})
"""Commands after which nothing of the files they name is left."""
COPIERS = frozenset({"cp", "mv", "install", "ln", "rsync", "scp"})
"""Commands that read all files they name but the last, and write the last."""
READERS = frozenset(
    {".", "awk", "base64", "bat", "bzip2", "cat", "cmp", "column", "comm", "cut", "diff", "file"}
    | {"fold", "gzip", "head", "hexdump", "join", "jq", "less", "md5sum", "more", "nl", "od"}
    | {"paste", "sed", "sha1sum", "sha256sum", "sort", "source", "split", "strings", "tac", "tail"}
    | {"tr", "uniq", "wc", "xxd", "xz", "zcat"}
)
"""Commands that print what is in the files they name."""
EDITORS = frozenset({"perl", "sed"})
"""Commands that change the files they name when they are told to edit in place."""
_GREP = "ABCDdmef"
SEARCHES = {
    "ack": "ABCm",
    "ag": "ABCGm",
    "egrep": _GREP,
    "fgrep": _GREP,
    "grep": _GREP,
    "rg": "ABCEMTdefgjmrt",
}
"""Commands that search files, with the letters of options that a value follows."""
LEAVE_OUT = frozenset({"ack", "ag", "ln", "rg"})
"""Commands that do not read all that is in a folder."""
SCRIPTED = {*SEARCHES, "awk", "jq", "perl", "sed", "tr"}
"""Commands whose first word is no file, but a pattern or a script."""
SHELLS = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
DECLARERS = frozenset({"declare", "export", "local", "readonly", "typeset"})
OPENERS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{"})
"""Words before a command."""
WRAPPERS = {
    **dict.fromkeys(("builtin", "busybox", "command", "exec", "nohup", "setsid", "time"), ""),
    "doas": "Cu",
    "env": "CSu",
    "ionice": "cnpt",
    "nice": "n",
    "stdbuf": "eio",
    "sudo": "CDghprtTu",
    "timeout": "ks",
}
"""Commands that run the command after them, with the letters of options that a value follows."""
