"""The shape of the code: who may import what, and what a start costs."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "agenteval"
ADAPTERS = [ROOT / "adapters" / name / f"agenteval_{name}" for name in ("nanoclaw", "otel")]
EXAMPLES = ROOT / "examples" / "nanoclaw"

HEAVY = frozenset(
    {
        "dask",
        "difflib",
        "distributed",
        "importlib.metadata",
        "jsonschema",
        "multiprocessing",
        "orjson",
        "pydantic",
        "pydantic_core",
        "regex",
        "rich",
        "typer",
        "watchfiles",
        "yaml",
    }
)
"""Modules whose import takes longer than a test takes to run."""
ALLOWED = {
    "cli": {"typer"},
    "reading": {"yaml"},
    "running/cluster.py": {"multiprocessing"},
    "running/workers.py": {"multiprocessing"},
    "serve/messages.py": {"pydantic"},
    "serve/workers.py": {"multiprocessing"},
}
"""Whose job one of them is: by file, or folder, in src/agenteval."""
ROOMS = (
    "text", "contracts", "matching", "reading", "redaction", "grounding", "shell", "assertions", "operators", "plugins",
    "loading", "live", "judging", "openwop", "records", "comparing", "mutation", "recording", "reference", "reporters", "running", "checking",
    "pytest_plugin", "serve", "cli",
)  # fmt: skip
"""The rooms of the core, each after those that it may import from."""


@cache
def parsed(file: Path) -> ast.Module:
    """What is in a file, parsed once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def files() -> list[Path]:
    """All modules of the package and of the adapters that come with it."""
    return [file for folder in (SRC, *ADAPTERS) for file in sorted(folder.rglob("*.py"))]


def imports_at_start(file: Path) -> Iterator[str]:
    """The modules that importing a file imports: not those in functions, nor for the type checker only."""
    waiting: list[ast.AST] = [parsed(file)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                waiting += node.orelse
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                yield module
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case _:
                waiting += ast.iter_child_nodes(node)


def module_name(file: Path) -> str:
    """The dotted name under which a file is imported."""
    (base,) = (folder.parent for folder in (SRC, *ADAPTERS) if file.is_relative_to(folder))
    parts = file.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SCRATCH = {
    ("live/run.py", "(folder / 'managed-settings.json').write_text"),
    ("live/run.py", "(folder / 'replay.json').write_text"),
    ("live/sandbox.py", "(folder / 'stdin').write_bytes"),
    ("live/sandbox.py", "note.write_text"),
    ("live/fixtures.py", "transcript.write_text"),
}
"""What is written into a scratch folder, which is gone after a live run."""


def own_imports() -> dict[str, set[str]]:
    """Which module imports which other of ours when it is imported."""
    modules = {module_name(file): file for file in files()}
    return {
        name: {i for i in imports_at_start(file) if i in modules} - {name} for name, file in modules.items()
    }


def test_heavy_modules_are_imported_where_they_are_used() -> None:
    """At the top of a module stands only what is cheap to import, or what the module is for."""
    wrong = []
    for file in files():
        inside = file.relative_to(SRC) if file.is_relative_to(SRC) else Path()
        allowed = ALLOWED.get(str(inside), ALLOWED.get(inside.parts[0] if inside.parts else "", set()))
        heavy = {name for name in imports_at_start(file) if name in HEAVY or name.split(".")[0] in HEAVY}
        wrong += [f"{file} imports {name}" for name in heavy if name.split(".")[0] not in allowed]
    assert wrong == []


def test_imports_run_in_one_direction() -> None:
    """No module needs, directly or not, a module that needs it."""
    try:
        TopologicalSorter(own_imports()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def room_of(module: str) -> str:
    """The room of a module of the core, or the package of another."""
    package, _, inside = module.partition(".")
    return inside.partition(".")[0] if package == "agenteval" else package


@cache
def all_imports() -> list[tuple[str, str]]:
    """Which module imports which other of ours, at its start or in a function."""
    modules = {module_name(file): file for file in files()}
    return [
        (name, other)
        for name, file in modules.items()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ImportFrom) and node.module
        for other in {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        if other in modules and other != name
    ]


def test_a_room_imports_only_from_rooms_before_it() -> None:
    """No circles, no module loose in the root, and no way upwards, not even in a function."""
    loose = {path.name for path in SRC.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert loose == set()
    assert {path.name for path in SRC.iterdir() if any(path.glob("*.py"))} <= set(ROOMS)
    upward = [
        f"{name} imports {other}"
        for name, other in all_imports()
        if {room_of(name), room_of(other)} <= set(ROOMS)
        and ROOMS.index(room_of(name)) < ROOMS.index(room_of(other))
    ]
    assert upward == []


@pytest.mark.parametrize(
    ("importer", "forbidden"),
    [
        (r"agenteval(\..*)?", r"agenteval_.*"),
        (
            r"agenteval_.*",
            r"agenteval\.(assertions|judging|openwop|comparing|mutation|recording|reference|reporters|running|pytest_plugin|serve|cli)",
        ),
        (r"agenteval_nanoclaw(\..*)?", r"agenteval_otel"),
        (r"agenteval_otel(\..*)?", r"agenteval_nanoclaw"),
    ],
)
def test_the_core_and_the_adapters_meet_only_in_the_trace(importer: str, forbidden: str) -> None:
    """The core finds adapters by their entry points; adapters know nothing of assertions and results."""
    broken = [
        f"{name} imports {other}"
        for name, other in all_imports()
        if re.fullmatch(importer, name) and re.match(rf"{forbidden}(\.|$)", other)
    ]
    assert broken == []


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A new interpreter that finds what this one finds, without the start-up hooks of its environment (-S)."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=env)


def modules_after(code: str) -> set[str]:
    """The top-level modules that a new interpreter has loaded after running some code."""
    program = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(run_python("-c", program).stdout.splitlines()[-1].split())


def test_version_imports_next_to_nothing() -> None:
    """`agenteval --version` loads no parser of options, no models and no YAML."""
    done = run_python("-X", "importtime", "-m", "agenteval", "--version")
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "agenteval" in loaded
    unwanted = {"argparse", "dataclasses", "inspect", "json", "pydantic", "re", "rich", "typer", "yaml"}
    assert loaded & unwanted == set()


def test_a_green_run_imports_no_judge_of_what_is_wrong(tmp_path: Path) -> None:
    """Valid tests never load jsonschema, which is for what is not plainly right, nor pydantic."""
    arguments = ["run", str(EXAMPLES), "-q", "--artifacts-dir", str(tmp_path)]
    loaded = modules_after(
        f"from agenteval.cli import main\nassert main({arguments!r}) == 0\nassert 'importlib.metadata' not in sys.modules"
    )
    assert "agenteval_nanoclaw" in loaded
    unwanted = {"jsonschema", "multiprocessing", "pydantic", "pydantic_core", "rich"}
    assert loaded & unwanted == set()


def test_architecture_fits_on_a_page() -> None:
    """ARCHITECTURE.md can be held in the head: at most 60 lines."""
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_architecture_names_every_module() -> None:
    """The tree in ARCHITECTURE.md has each module and package of the core, and none that is not there."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tree = text.partition("src/agenteval/\n")[2].partition("```")[0]
    named = re.findall(r"(?<=  )([a-z_]+(?:\.py|/))(?=  )", tree)
    modules = {path.name for path in SRC.glob("[a-z]*.py")}
    packages = {f"{path.name}/" for path in SRC.iterdir() if any(path.glob("*.py"))}
    assert sorted(named) == sorted(modules | packages)


def calls(file: Path) -> Iterator[str]:
    """What a file calls, as it is written: `sys.stdout.write`, `print`."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_all_that_is_printed_and_filed_goes_through_the_redactor() -> None:
    """`stream.write` and `sealed` are the only ways out; the version is printed before there is anything to hide."""
    printing = re.compile(
        r"print|typer\.echo|(?:sys\.(?:stdout|stderr)|self\.stream|stream)\.write(?:lines)?"
    )
    filing = re.compile(r"encode|.*\.write_(?:text|bytes)|orjson\.dumps")
    found = {
        (str(file.relative_to(SRC)), name)
        for file in SRC.rglob("*.py")
        for name in calls(file)
        if printing.fullmatch(name) or filing.fullmatch(name)
    }
    assert found == {
        ("cli/__init__.py", "print"),
        ("cli/app.py", "typer.echo"),  # an address, for the process that started this one
        ("running/reports.py", "path.write_bytes"),  # a report, as its format has sealed it
        ("reporters/terminal.py", "stream.write"),
        (
            "reporters/terminal.py",
            "self.stream.write",
        ),  # what was written, harmless in a log of GitHub Actions
        ("redaction/sealing.py", "encode"),
        ("redaction/sealing.py", "orjson.dumps"),
        ("redaction/redactor.py", "orjson.dumps"),
        ("reference/schemas.py", "path.write_text"),
        *SCRATCH,
    }


def is_reading(call: ast.Call) -> bool:
    """Whether a call opens a file, unless it says that it only writes."""
    opening = r"open|(?:os|io|codecs|gzip|bz2|lzma|zipfile|tarfile|mmap)\.\w*open\w*|.*\.(?:open|read_text|read_bytes|get_data)"
    other = r"sqlite3\.connect|shutil\.(?:copy(?!fileobj)\w*|move)|linecache\.\w+|.*\.(?:FileIO|fromfile)|runpy\.\w+"
    if not re.fullmatch(f"{opening}|{other}", ast.unparse(call.func)):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    modes = [str(each.value) for each in given if isinstance(each, ast.Constant)]
    return not any(re.fullmatch("[wxa][bt]?", mode) for mode in modes)


def test_all_that_is_read_goes_through_one_door() -> None:
    """`reading.documents` alone opens files for reading: there a link that leads out of the project is refused."""
    found = {
        (file.name, ast.unparse(node))
        for file in files()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.Call) and is_reading(node)
    }
    assert {(name, call) for name, call in found if name != "documents.py"} == {
        # what is in the package, or was installed with it
        ("adapters.py", "open(metadata, encoding='utf-8')"),
        ("html.py", "_FILES.joinpath(name).read_text('utf-8')"),
        ("page.py", "files('agenteval.serve').joinpath(name).read_text('utf-8')"),
        ("init.py", "distribution('agenteval').read_text('direct_url.json')"),
        ("init.py", "(_TEMPLATES / name).read_text(encoding='utf-8')"),
        # a copy that was made through the door
        ("store.py", "sqlite3.connect(copy)"),
        # the project as it travels to a cluster, links as links; and what a worker makes of it
        ("cluster.py", "tarfile.open(fileobj=made, mode='w:gz', compresslevel=1)"),
        ("cluster.py", "tarfile.open(fileobj=io.BytesIO(self.made_of[2]))"),
        # databases of a scratch install that the run has made or taken over, and copies
        ("workspace.py", "sqlite3.connect(path)"),
        ("workspace.py", "shutil.copyfile(self.inbound, self.session / INBOUND)"),
        # what an agent has left, from folder to folder without following links
        ("left.py", "os.open(name, how | os.O_CLOEXEC, dir_fd=folder)"),
        # what git tracks, copied for an agent without following links; the input of an agent
        ("command.py", "shutil.copy2(source, target, follow_symlinks=False)"),
        ("sandbox.py", "(folder / 'stdin').open('rb')"),
        ("sandbox.py", "os.fdopen(reading, 'rb')"),
        ("sandbox.py", "os.pidfd_open(first)"),
        # no files
        ("terminal.py", "os.open(os.devnull, os.O_WRONLY)"),
        ("model.py", "opener.open(sent, timeout=UPSTREAM_SECONDS)"),
        ("scratch.py", "os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)"),
        ("scratch.py", "os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=parent)"),
        ("scratch.py", "os.open(here, os.O_RDONLY | os.O_DIRECTORY)"),
    }
    assert sum(name == "documents.py" for name, _ in found) == 4


def test_nothing_that_an_agent_can_write_is_opened_by_its_path() -> None:
    """What lists, reads or writes files in live modules is known: all of it stays out of agents' folders until they are taken over."""
    reading = (
        r"(?:.*\.)?(?:r?glob|iterdir|read_text|read_data|read_bytes|opened|load_json|take_over|copy_left)"
    )
    others = r"os\.(?:listdir|scandir|walk|fwalk)|.*\.(?:write_text|write_bytes|correct)"
    found = {
        (file.name, name)
        for file in (SRC / "live").glob("*.py")
        for name in calls(file)
        if re.fullmatch(f"{reading}|{others}", name)
    }
    assert found == {
        # the door
        ("left.py", "os.scandir"),
        ("left.py", "copy_left"),
        ("run.py", "take_over"),
        # in folders that were taken over
        ("command.py", "out.glob"),
        ("command.py", "self.scratch.glob"),
        ("command.py", "file.with_suffix('').rglob"),
        ("command.py", "proxy.fixtures.correct"),
        ("command.py", "load_json"),
        ("fixtures.py", "read_text"),
        ("fixtures.py", "transcript.write_text"),
        # what belongs to the author, and what was copied of it, before a run
        ("command.py", "folder.glob"),
        ("command.py", "installation.glob"),
        ("command.py", "opened"),
        ("command.py", "read_bytes"),
        ("fixtures.py", "load_json"),
        ("model.py", "read_text"),
        ("run.py", "read_bytes"),
        ("run.py", "read_text"),
        # scratch folders outside of those that the agent can write: settings, its standard input and output
        ("command.py", "read_data"),
        ("run.py", "opened"),
        ("run.py", "(folder / 'managed-settings.json').write_text"),
        ("run.py", "(folder / 'replay.json').write_text"),
        ("sandbox.py", "(folder / 'stdin').write_bytes"),
        ("sandbox.py", "note.write_text"),
        ("sandbox.py", "read_bytes"),  # of /proc
        ("sandbox.py", "os.scandir"),  # before the agent starts
        ("servers.py", "copy_left"),
        ("servers.py", "copies.glob"),  # of what was copied
        ("servers.py", "read_bytes"),
        ("opened.py", "os.scandir"),  # before the agent starts
        ("limits.py", "os.listdir"),
        ("limits.py", "os.scandir"),  # sizes are added up, and nothing is opened
        ("scratch.py", "read_bytes"),
        ("scratch.py", "folder.glob"),
        ("scratch.py", "Path(_temporary_folder()).glob"),
        ("scratch.py", "os.listdir"),  # by an open folder
    }
