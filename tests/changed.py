"""Which test files are about what changed since a revision: `python tests/changed.py [REVISION]`, for `make check`.

Those that changed, that import a changed module (themselves, or through a helper beside the tests), and that have its name;
where none has, those in the folder of its room or adapter. What a command reaches otherwise is left to `make test`.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("src", "adapters/nanoclaw", "adapters/otel")
ALWAYS = ("tests/test_architecture.py",)


def changed_since(revision: str) -> set[str]:
    """The files that differ from where this branch left a revision, untracked ones among them."""
    base = _git("merge-base", revision, "HEAD") or ["HEAD"]
    return {*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")}


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def module_of(path: str) -> str:
    """The dotted name by which tests import a file."""
    for package in (*PACKAGES, "tests"):
        if path.startswith(f"{package}/"):
            path = path.removeprefix(f"{package}/")
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imported_by(path: Path) -> frozenset[str]:
    """The modules that a file imports, anywhere in it; of `from a import b` both `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update((node.module, *(f"{node.module}.{each.name}" for each in node.names)))
    return frozenset(found)


def files_about(changed: Iterable[str]) -> list[str]:
    """The test files about these files, by their paths from the root."""
    sources = [path for path in changed if path.endswith(".py")]
    modules = {module_of(path) for path in sources}
    tests = {path for path in (ROOT / "tests").rglob("test_*.py") if "data" not in path.parts}
    helpers = {path for path in (ROOT / "tests").rglob("[!t]*.py") if "data" not in path.parts}
    modules |= {path.stem for path in helpers if imported_by(path) & modules and path.stem != "projects"}
    found = {path for path in tests if imported_by(path) & modules}
    for source in map(Path, sources):
        room = {path for path in tests if path.parent.name in source.parts[1:-1]}
        found |= {path for path in room or tests if path.name in (source.name, f"test_{source.name}")} or room
    return sorted({path.relative_to(ROOT).as_posix() for path in found}.union(ALWAYS))


if __name__ == "__main__":
    print(*files_about(changed_since(sys.argv[1] if len(sys.argv) > 1 else "main")), sep="\n")  # noqa: T201
