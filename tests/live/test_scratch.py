"""The folders in which agents run are removed, whatever is in them."""

import os
import sys
from pathlib import Path

import pytest

from agenteval.live.scratch import remove_tree


def deep(folder: Path, depth: int, name: str) -> None:
    """Folders in each other, made as no path could name them."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@pytest.mark.parametrize(("depth", "name"), [(3 * sys.getrecursionlimit(), "d"), (40, "n" * 255), (0, "")])
def test_folders_of_any_depth_are_removed(tmp_path: Path, depth: int, name: str) -> None:
    """Neither the recursion limit, nor the longest path, nor the number of open files is in the way."""
    (tmp_path / "scratch").mkdir()
    deep(tmp_path / "scratch", depth, name)
    remove_tree(tmp_path / "scratch")
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    """To a file, to a folder, to nothing, to itself, and one file with two names."""
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    (kept / "file").write_text("kept")
    inner = tmp_path / "scratch/inner"
    inner.mkdir(parents=True)
    for name, target in (("a", kept), ("b", kept / "file"), ("c", "nowhere"), ("d", "d"), ("e", "/")):
        (inner / name).symlink_to(target)
    (inner / "f").hardlink_to(kept / "file")
    os.mkfifo(inner / "pipe")
    remove_tree(tmp_path / "scratch")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "inner", "kept"]
    assert (kept / "file").read_text() == "kept"


def test_folders_without_rights_are_removed(tmp_path: Path) -> None:
    """An agent can take them away from itself."""
    inner = tmp_path / "scratch/one/two/three"
    inner.mkdir(parents=True)
    for folder in (inner, *inner.parents):
        if folder.is_relative_to(tmp_path / "scratch"):
            folder.chmod(0)
    remove_tree(tmp_path / "scratch")
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Somebody else may have put it there."""
    (tmp_path / "kept/inner").mkdir(parents=True)
    (tmp_path / "scratch").symlink_to("kept")
    with pytest.raises(OSError, match="scratch"):
        remove_tree(tmp_path / "scratch")
    assert (tmp_path / "kept/inner").is_dir()
