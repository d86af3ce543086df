"""The change that is checked: the base that today's files are compared with, and the files that differ from it."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path
from typing import Literal

from agenteval.comparing.check_report import CheckBase
from agenteval.contracts.errors import AgentEvalError, UsageError
from agenteval.live.cassette import FORMAT, pieces_of_line, squeezed
from agenteval.loading.checkout import git, git_bytes
from agenteval.reading.documents import read_bytes

HEAD = "HEAD"
MOST_COMPARED = 2**20
"""The most bytes of a file that is looked for in requests: longer ones are data, and no words for a model."""
MOST_PIECES = 300
"""The pieces of one file that are looked for, the longest first: to look for all lines of a new file would take seconds."""
SHORTEST_PIECE, CERTAIN_PIECE = 5, 12
"""The letters and digits of a piece that counts, and of one that is found within a line by no chance.

`return` stands in many texts, so that what is shorter has to be a whole line of a request.
"""
_SHOWN_COMMIT = 12

Kind = Literal["added", "modified", "deleted", "untracked"]


@dataclass(slots=True, kw_only=True)
class FileChange:
    """A file that differs from the base, by its path in the project.

    `came` and `gone` are the pieces of text that only today's file, or only that of the base, has: lines, and texts in
    quotes, as `squeezed` makes them comparable with requests. Both are empty for what is no text.
    """

    path: str
    kind: Kind
    came: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Changes:
    """All that differs from the base. `top` is the repository's folder, in which the project has its own."""

    base: CheckBase
    commit: str
    top: Path
    files: list[FileChange] = field(default_factory=list)


def changes_since(revision: str, root: Path, *, without: Collection[str] = ()) -> Changes:
    """Find the files of the project that differ from a revision: in commits, in the working tree, and untracked ones.

    Of a branch, the base is the commit at which it and today's work went apart. Files that git ignores are left out, as are those below
    the folders in `without`. Raises `UsageError` (`check.no_git`, `check.no_commit`, `check.no_revision`).
    """
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(
            f"{root} is in no git repository, so there is nothing to compare with",
            reason_code="check.no_git",
            next_step="git init, git add and git commit what the agent needs; or agenteval run --live, which compares nothing",
        )
    if git(root, "rev-parse", "--verify", "--quiet", f"{HEAD}^{{commit}}") is None:
        raise UsageError(
            "the git repository has no commit yet, so there is nothing to compare with",
            reason_code="check.no_commit",
            next_step="git add and git commit the agent and its tests as they are now, then change them",
        )
    base = base_of(revision, root)
    commit = base.commit
    files = {
        each.path: each  # in the middle of a merge, git lists a file twice
        for each in (*_differing(commit, root), *_untracked(root))
        if not any(each.path == folder or each.path.startswith(f"{folder}/") for folder in without)
    }
    base.commit = commit[:_SHOWN_COMMIT]
    ordered = [files[path] for path in sorted(files)]
    return Changes(base=base, commit=commit, top=Path(top.rstrip("\n")), files=ordered)


def base_of(revision: str, root: Path) -> CheckBase:
    """Find the commit that a revision means. Raises `UsageError` (`check.no_revision`)."""
    commit = None
    if not revision.startswith("-"):  # git would take it for an option
        commit = git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        remote = f"origin/{revision}"
        known = git(root, "rev-parse", "--verify", "--quiet", f"{remote}^{{commit}}")
        raise UsageError(
            f"--against {revision}: git knows no such revision",
            reason_code="check.no_revision",
            next_step=f"agenteval check --against {remote}"
            if known
            else "name a branch, a tag or a commit that is in this clone (git fetch gets others; a shallow clone has few)",
        )
    commit = commit.strip()
    shared = git(root, "merge-base", HEAD, commit)
    if shared is None:
        raise UsageError(
            f"--against {revision}: it has no commit in common with {HEAD}",
            reason_code="check.no_revision",
            next_step="fetch the whole history (git fetch --unshallow), or name another revision",
        )
    return CheckBase(revision=revision, commit=shared.strip(), merge_base=shared.strip() != commit)


def _differing(commit: str, root: Path) -> Iterator[FileChange]:
    """Yield the tracked files that differ from a commit, in the index or the working tree."""
    listed = git_bytes(root, "diff", "--raw", "-z", "--abbrev=40", "--no-renames", "--relative", commit)
    if listed is None:  # without a list of what differs, every test would look untouched
        raise UsageError(
            f"git cannot compare {root} with {commit[:_SHOWN_COMMIT]}",
            reason_code="check.no_revision",
            next_step=f"see what it says: git diff --raw {commit[:_SHOWN_COMMIT]}",
        )
    fields = listed.split(b"\0")
    entries = [
        (entry.split(), os.fsdecode(name)) for entry, name in zip(fields[::2], fields[1::2], strict=False)
    ]
    old = _contents(root, [words[2] for words, _ in entries if words[4][:1] != b"A"])
    for words, name in entries:
        status = words[4][:1]
        before = old.get(words[2], b"")
        if status == b"A":
            yield _changed(name, "added", b"", _now(root / name))
        elif status == b"D" and not os.path.lexists(root / name):
            yield _changed(name, "deleted", before, b"")
        else:
            yield _changed(name, "modified", before, _now(root / name))


def _untracked(root: Path) -> Iterator[FileChange]:
    """Yield the files that git neither tracks nor ignores."""
    for name in filter(
        None, (git(root, "ls-files", "--others", "--exclude-standard", "-z") or "").split("\0")
    ):
        yield _changed(name, "untracked", b"", _now(root / name))


def _now(path: Path) -> bytes:
    """Return the content of a file; empty for what is no plain file, or too large to be words for a model."""
    with suppress(OSError, AgentEvalError):
        if not path.is_symlink() and path.is_file() and path.stat().st_size <= MOST_COMPARED:
            return read_bytes(path)
    return b""


def _changed(name: str, kind: Kind, before: bytes, after: bytes) -> FileChange:
    old, new = (frozenset(pieces_of(content)) for content in (before, after))
    came, gone = (frozenset(nlargest(MOST_PIECES, pieces, key=len)) for pieces in (new - old, old - new))
    return FileChange(path=name, kind=kind, came=came, gone=gone)


def pieces_of(content: bytes) -> list[str]:
    """List the lines of a text, and the values and texts in quotes in it, squeezed, without those that are found by chance."""
    if len(content) > MOST_COMPARED or b"\0" in content or FORMAT.encode() in content[:200]:
        return []  # a cassette holds the words of all that was sent, and is sent nowhere
    pieces = dict[str, None]()
    for line in content.decode(errors="replace").splitlines():
        for text in pieces_of_line(line):
            piece = squeezed(text)
            if len(piece) >= SHORTEST_PIECE:
                pieces[piece] = None
    return list(pieces)


class Sent:
    """Texts that were sent to a model, made ready to look for pieces of files in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = [squeezed(line) for text in texts for line in text.splitlines()]
        self._lines = frozenset(lines)
        self._all = "".join(lines)

    def has_any(self, pieces: Iterable[str]) -> bool:
        """Return whether any of the pieces was sent."""
        return any(
            piece in self._lines or (len(piece) >= CERTAIN_PIECE and piece in self._all) for piece in pieces
        )


def _contents(root: Path, digests: Sequence[bytes]) -> dict[bytes, bytes]:
    """Read objects of the repository by their digests, all in one process of git."""
    wanted = list(dict.fromkeys(digests))
    found, at = dict[bytes, bytes](), 0
    output = git_bytes(root, "cat-file", "--batch", given=b"\n".join(wanted) + b"\n")
    for digest in wanted if output else ():
        assert output is not None
        end = output.index(b"\n", at)
        words = output[at:end].split()
        at = end + 1
        if words[1:2] == [b"blob"]:
            size = int(words[2])
            found[digest] = output[at : at + size]
            at += size + 1
        elif len(words) == 3:  # a commit, of a submodule that is here
            at += int(words[2]) + 1
    return found
