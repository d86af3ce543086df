"""What a shell command does to files, as far as its words tell without running it."""

from agenteval.shell import builtins, programs, runners
from agenteval.shell.interpreter import MOST_COMMANDS, Program, Shell
from agenteval.shell.touch import Reading, Unclear


def touches(command: str, folder: str) -> Reading:
    """The files that a command touches; `folder` is where it runs."""
    shell = Shell(folder, _PROGRAMS)
    shell.run(command)
    found = shell.found
    if found.commands > MOST_COMMANDS:
        found.unclear.append(Unclear(command, folder))
    return Reading(found.touches, found.unclear)


_NAMES: dict[Program, str] = {
    builtins.nothing: (
        ": break case continue date done esac exit false fi hostname id kill return select seq set shift shopt"
        " sleep true uname unset wait which whoami ) }"
    ),
    builtins.cd: "cd",
    builtins.pushd: "pushd",
    builtins.popd: "popd",
    builtins.declare: "declare export local readonly typeset",
    builtins.loop: "for",
    builtins.read: "mapfile read readarray",
    builtins.echo: "echo printf",
    builtins.pwd: "pwd",
    builtins.resolve: "basename dirname readlink realpath",
    runners.evaluate: "eval",
    runners.run_script: "ash bash dash ksh sh zsh",
    runners.xargs: "xargs",
    programs.stat: "[ [[ du stat test",
    programs.ls: "ls",
    programs.tree: "tree",
    programs.find: "find",
    programs.search: " ".join(programs.SEARCHES),
    programs.read: (
        ". awk base64 bat bzip2 cat cmp column comm cut diff file fold gzip head hexdump join jq less md5sum more nl"
        " od paste sha1sum sha256sum sort source split strings tac tail tr uniq wc xxd xz zcat"
    ),
    programs.edit: "perl sed",
    programs.write: "mkdir tee touch",
    programs.remove: "rm rmdir shred truncate unlink",
    programs.copy: "cp install ln mv rsync scp",
    programs.dd: "dd",
    programs.tar: "tar",
    programs.zip_: "zip",
}
"""What each command does."""
_PROGRAMS: dict[str, Program] = {
    "": builtins.nothing,  # a redirection alone
    **{name: program for program, names in _NAMES.items() for name in names.split()},
}
