"""A checkout of NanoClaw v2: its files that a live run shows to the agent, and their programs.

The checkout is only read, and of it only what git tracks: no key, no data, nothing of a group.
"""

import json
import platform
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from agenteval.contracts.errors import AdapterError, FileError
from agenteval.live.command import copy_files, git_state, tracked_files
from agenteval.live.run import LiveSetup
from agenteval.loading.checkout import git
from agenteval.reading.documents import read_text
from agenteval_nanoclaw.versions import RELEASES, Host, host_of, release_of

RUNNER = "container/agent-runner/src/index.ts"
_SDK = "@anthropic-ai/claude-agent-sdk"
_MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
_CLIS = (
    f"@anthropic-ai/claude-code-linux-{_MACHINE}/claude",
    f"@anthropic-ai/claude-agent-sdk-linux-{_MACHINE}/claude",
)
"""The paths of the CLI among the installed packages."""
_MOST_BYTES = 1_000_000
"""The most bytes of a file of a checkout that is read here."""


@dataclass(slots=True, kw_only=True)
class Checkout:
    """The parts of a checkout in use: `files` has copies of its tracked ones, the rest are paths outside of it.

    `programs` are the programs that the sandbox gets, by their names; a container has its own unless they are
    configured.
    """

    root: Path
    files: Path
    host: Host
    node_modules: Path | None
    programs: dict[str, Path] = field(default_factory=dict)

    @property
    def skills(self) -> list[str]:
        """The names of the skills that every group has."""
        folder = self.files / "container" / "skills"
        return sorted(each.name for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []

    def provenance(self) -> dict[str, str]:
        """The code that runs, with its version."""
        said = {"nanoclaw": _version(self.files / "package.json"), **git_state(self.root)}
        if self.node_modules:
            said["sdk"] = _version(self.node_modules / _SDK / "package.json")
        return {name: each for name, each in said.items() if each}


def open_checkout(setup: LiveSetup, runtime: str) -> Checkout:
    """The checkout that is configured. Raises `AdapterError` (`live.unsupported_checkout`) for what is none."""
    config = setup.config.nanoclaw
    root = (setup.root / config.checkout).resolve()
    source = setup.source_of(root)
    host = _host(source)
    tracked = tracked_files(source)
    if RUNNER not in tracked:
        raise _unsupported(
            f"git does not track {RUNNER} in {source}", "git add it: only tracked files are shown"
        )
    files = setup.scratch / "checkout"
    shown = [name for name in tracked if name.startswith("container/")]
    copy_files(source, [*shown, *({"package.json"} & set(tracked))], files)
    for name in _untracked(source):
        setup.context.warn(f"git does not track {name}, so the agent does not have it: git add it")
    for guess in host.guessed:
        setup.context.warn(f"{guess}: see that this checkout still does so")
    in_container = runtime != "bwrap"
    node_modules = root / "container/agent-runner/node_modules"
    if config.node_modules:
        node_modules = setup.root / config.node_modules
    if in_container and not config.node_modules:
        return Checkout(root=source, files=files, host=host, node_modules=None)
    if not (node_modules / _SDK).is_dir():
        raise _unsupported(
            f"there is no {_SDK} in {node_modules}",
            "install the packages of its agent-runner (bun install in container/agent-runner), "
            "or name them in live.nanoclaw.node_modules",
        )
    checkout = Checkout(root=source, files=files, host=host, node_modules=node_modules.resolve())
    claude = setup.root / config.claude if config.claude else None
    if not in_container:
        checkout.programs["bun"] = _program("bun", [node_modules / ".bin" / "bun"], "node_modules")
        claude = claude or _program("claude", [node_modules / each for each in _CLIS], "claude")
    if claude:
        if not claude.is_file():
            raise _unsupported(f"there is no file {claude}", "correct live.nanoclaw.claude: the agent's CLI")
        checkout.programs["claude"] = claude.resolve()
    return checkout


def _program(name: str, places: list[Path], setting: str) -> Path:
    found = next((place for place in places if place.is_file()), None) or shutil.which(name)
    if not found:
        looked = ", ".join(map(str, places))
        raise _unsupported(
            f"there is no {name}: neither {looked}, nor one on the PATH",
            f"install it, or name it in live.nanoclaw.{setting}",
        )
    return Path(found).resolve()


def _host(root: Path) -> Host:
    """Describe the host of a checkout. Raises `AdapterError` for what is no checkout of NanoClaw v2, or of an unknown one."""

    def read(path: str) -> str | None:
        return _text(root / path) if (root / path).is_file() else None

    schemas = [each.session_schema for each in RELEASES]
    release = release_of(lambda path: (root / path).is_file())
    missing = RUNNER if read(RUNNER) is None else " or ".join(schemas)
    if release is None or missing == RUNNER:
        version = _version(root / "package.json")
        what = f"NanoClaw v{version}" if version.startswith("1.") else "no checkout of NanoClaw v2"
        raise _unsupported(
            f"{root} is {what}: there is no {missing}, and live runs need NanoClaw v2",
            "name a checkout of NanoClaw v2 in live.nanoclaw.checkout, or with --nanoclaw DIR",
        )
    try:
        return host_of(release, read)
    except ValueError as error:
        raise _unsupported(
            f"the checkout {root} (version {_version(root / 'package.json') or 'unknown'}) is no release of NanoClaw "
            f"that is known: {error}",
            f"use a checkout like NanoClaw {' or '.join(each.name for each in RELEASES)}, and report this one",
        ) from None


def _untracked(root: Path) -> list[str]:
    """Files that the host would show to agents, and git does not know."""
    return (git(root, "ls-files", "--others", "--exclude-standard", "container") or "").splitlines()


def _version(package: Path) -> str:
    try:
        return str(json.loads(_text(package)).get("version", ""))
    except (AdapterError, ValueError, AttributeError):
        return ""


def _text(path: Path) -> str:
    try:
        return read_text(path, max_bytes=_MOST_BYTES)
    except FileError as error:
        raise AdapterError.of(error.problems) from None


def unsupported_table(problem: str) -> AdapterError:
    """The error for databases of a form that is not known."""
    return _unsupported(
        problem,
        "use a checkout whose databases are as those of a NanoClaw that is known "
        f"({', '.join(each.name for each in RELEASES)}), and report this one",
    )


def _unsupported(message: str, next_step: str) -> AdapterError:
    return AdapterError(
        message, reason_code="live.unsupported_checkout", next_step=next_step, where=("adapter",)
    )
