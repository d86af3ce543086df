"""The adapter: how it is found, what it takes as input, and which files it opens."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenteval.contracts.adapters import find_adapter
from agenteval.contracts.errors import AdapterError
from agenteval_nanoclaw import NanoClawAdapter
from agenteval_nanoclaw.bundle import ReplayBundle
from builders import make_case
from nanoclaw.bundles import make_bundle, make_context, write


def refusal(folder: Path, adapter_input: dict[str, Any], **context: Any) -> AdapterError:
    """What the adapter says of an input."""
    with pytest.raises(AdapterError) as caught:
        NanoClawAdapter().trace(make_case(adapter_input=adapter_input), make_context(folder, **context))
    return caught.value


def test_the_adapter_is_found_by_name() -> None:
    """The entry point leads to it, and it says what it is."""
    adapter = find_adapter("nanoclaw")
    assert isinstance(adapter, NanoClawAdapter)
    assert (adapter.name, adapter.version, adapter.supports_live_run) == ("nanoclaw", "0.1.0", True)
    assert adapter.input_schemas == {"replay": ReplayBundle}


def test_importing_the_adapter_is_cheap() -> None:
    """Neither heavy libraries nor the bundle's models are imported before there is a bundle to read."""
    heavy = ["pydantic", "yaml", "rich", "jsonschema", "difflib", "agenteval_nanoclaw.bundle"]
    code = f"import sys, agenteval_nanoclaw; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_replaying_a_valid_bundle_is_cheap(tmp_path: Path) -> None:
    """A bundle that is right is judged without the libraries that explain what is wrong."""
    write(tmp_path, make_bundle())
    code = (
        "import sys; sys.path.insert(0, 'tests'); from pathlib import Path\n"
        "from agenteval.contracts.testcase import TestCase; from agenteval.contracts.models import parse\n"
        "from agenteval.contracts.adapters import AdapterContext; from agenteval_nanoclaw import NanoClawAdapter\n"
        "case = parse(TestCase, dict(schema_version='0.1', id='a', title='', adapter='nanoclaw', mode='replay',\n"
        "  scenario=dict(group_id='family', trigger='user_message', input_messages=[]),\n"
        "  tools=dict(available=[]), assertions=[], adapter_input=dict(replay_file='replay.json')))\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "context = AdapterContext(base_dir=folder, root=folder, run_id='r', max_file_bytes=10**6)\n"
        "print(len(NanoClawAdapter().trace(case, context).events))\n"
        "print([name for name in ('pydantic', 'yaml', 'difflib') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n[]\n"


def test_an_unknown_key_of_adapter_input_is_an_error(tmp_path: Path) -> None:
    """With the name that was probably meant."""
    error = refusal(tmp_path, {"replay_fil": "replay.json"})
    assert error.reason_code == "adapter.unknown_input"
    assert error.message == (
        "unknown key 'replay_fil' in adapter_input, did you mean 'replay_file'? "
        "(allowed: replay_file, session, turn, message, task_id, time, tool_aliases)"
    )
    assert error.next_step == "correct the key in the test; keys that begin with x- are your own"


def test_extension_keys_are_the_authors_own(tmp_path: Path) -> None:
    """`x-` keys mean nothing to the adapter."""
    write(tmp_path, make_bundle())
    case = make_case(adapter_input={"x-note": "mine", "replay_file": "replay.json"})
    assert NanoClawAdapter().trace(case, make_context(tmp_path)).output == "Done."


@pytest.mark.parametrize("given", [{}, {"x-note": "mine"}])
def test_a_test_must_name_a_recording(tmp_path: Path, given: dict[str, Any]) -> None:
    """Without one there is nothing to replay."""
    error = refusal(tmp_path, given)
    assert error.reason_code == "adapter.input_missing"
    assert error.message == "adapter_input names no recording: replay_file or session is missing"
    assert error.next_step == "name the recording next to the test: adapter_input: {replay_file: replay.json}"


@pytest.mark.parametrize(("name", "shown"), [("", "''"), (None, "None"), (7, "7"), (["a"], "['a']")])
def test_replay_file_must_be_a_file_name(tmp_path: Path, name: Any, shown: str) -> None:
    """Anything but a text that is not empty is refused."""
    error = refusal(tmp_path, {"replay_file": name})
    assert error.reason_code == "adapter.invalid_input"
    assert error.message == f"adapter_input.replay_file must be the name of a file, got {shown}"
    assert error.next_step == "give adapter_input.replay_file the path of a file, relative to the test"


def test_a_name_no_file_can_have(tmp_path: Path) -> None:
    """The operating system's refusal is told, not raised."""
    error = refusal(tmp_path, {"replay_file": "a\0b"})
    assert error.reason_code == "adapter.invalid_input"
    assert error.message.startswith(r"adapter_input.replay_file names 'a\x00b', which cannot be looked up: ")
    assert refusal(tmp_path, {"replay_file": "a" * 5000}).reason_code == "adapter.invalid_input"


def test_a_missing_recording(tmp_path: Path) -> None:
    """Says what was looked for, and where."""
    error = refusal(tmp_path, {"replay_file": "repaly.json"})
    assert error.reason_code == "adapter.replay_missing"
    assert error.message == (
        f"adapter_input.replay_file names 'repaly.json', but {tmp_path / 'repaly.json'} is not there"
    )
    assert error.next_step == "correct adapter_input.replay_file in the test, or put the recording there"


def test_a_directory_is_no_recording(tmp_path: Path) -> None:
    """Says so."""
    (tmp_path / "replay.json").mkdir()
    error = refusal(tmp_path, {"replay_file": "replay.json"})
    assert error.reason_code == "adapter.replay_missing"
    assert error.message == (
        f"adapter_input.replay_file names 'replay.json', but {tmp_path / 'replay.json'} is a directory"
    )


def test_a_recording_that_may_not_be_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says why, in words."""

    def refusing(path: Any) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "lstat", refusing)
    monkeypatch.setattr(os, "stat", refusing)
    error = refusal(tmp_path, {"replay_file": "replay.json"})
    assert error.message == (
        "adapter_input.replay_file names 'replay.json', which cannot be looked up: Permission denied"
    )
    assert error.next_step == (
        "give adapter_input.replay_file the path of a file that can be read, relative to the test"
    )


def test_a_pipe_is_no_recording(tmp_path: Path) -> None:
    """Nor waited for; it is not said to be missing."""
    os.mkfifo(tmp_path / "replay.json")
    assert refusal(tmp_path, {"replay_file": "replay.json"}).message == (
        f"adapter_input.replay_file names 'replay.json', but {tmp_path / 'replay.json'} is no ordinary file"
    )


def outside(folder: Path, name: str) -> AdapterError:
    """What the adapter says of a file, the project being `folder`."""
    error = refusal(folder, {"replay_file": name})
    assert error.message == (
        f"adapter_input.replay_file names {name!r}, which is outside the project root {folder}"
    )
    assert error.next_step == (
        "keep the file inside the project, or allow files anywhere with --allow-outside; "
        "symbolic links that lead out of the project are not followed"
    )
    return error


def test_files_outside_the_project_are_not_read(tmp_path: Path) -> None:
    """Neither by `..`, nor by an absolute path, nor by a link; whether they exist is not told."""
    project = tmp_path / "project"
    project.mkdir()
    target = write(tmp_path, make_bundle(), "secret.json")
    (project / "link.json").symlink_to(target)
    for name in ("../secret.json", str(target), "link.json", "../not-there.json", "/"):
        assert outside(project, name).reason_code == "adapter.outside_root"


def test_files_outside_the_project_are_read_when_allowed(tmp_path: Path) -> None:
    """By `..`, by an absolute path, and by a link."""
    project = tmp_path / "project"
    project.mkdir()
    target = write(tmp_path, make_bundle(), "shared.json")
    (project / "link.json").symlink_to(target)
    context = make_context(project)
    context.allow_outside = True
    for name in ("../shared.json", str(target), "link.json"):
        case = make_case(adapter_input={"replay_file": name})
        assert NanoClawAdapter().trace(case, context).output == "Done."


def test_a_file_above_the_test_but_inside_the_project_is_read(tmp_path: Path) -> None:
    """Tests may share a recording; a root that is a link itself is resolved too."""
    (tmp_path / "real" / "tests").mkdir(parents=True)
    (tmp_path / "root").symlink_to(tmp_path / "real")
    write(tmp_path / "real", make_bundle(), "shared.json")
    context = make_context(tmp_path / "root")
    context.base_dir = tmp_path / "root" / "tests"
    case = make_case(adapter_input={"replay_file": "../shared.json"})
    assert NanoClawAdapter().trace(case, context).output == "Done."


@pytest.mark.parametrize("link", ["shared", "shared/tests", "shared/tests/one"])
def test_folders_of_tests_that_are_links_are_followed(link: str, tmp_path: Path) -> None:
    """A test whose folder is a link, or stands in one, is where the link leads: here out of the project."""
    project = tmp_path / "project"
    away = tmp_path / "away" / link
    rest = Path("shared/tests/one").relative_to(link)
    (away / rest).mkdir(parents=True)
    write(away / rest, make_bundle())
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(away)
    context = make_context(project)
    context.base_dir = project / "shared" / "tests" / "one"
    with pytest.raises(AdapterError, match="which is outside the project root") as refused:
        NanoClawAdapter().trace(make_case(), context)
    assert refused.value.reason_code == "adapter.outside_root"
    neighbour = context.base_dir.parent / "two"
    neighbour.mkdir()
    write(neighbour, make_bundle())
    context.base_dir = neighbour
    if link == "shared/tests/one":  # only this neighbour really is in the project
        assert NanoClawAdapter().trace(make_case(), context).output == "Done."
    else:
        with pytest.raises(AdapterError, match="which is outside the project root"):
            NanoClawAdapter().trace(make_case(), context)


def test_a_loop_of_links(tmp_path: Path) -> None:
    """Is an error, not a crash."""
    (tmp_path / "replay.json").symlink_to(tmp_path / "replay.json")
    assert refusal(tmp_path, {"replay_file": "replay.json"}).reason_code in (
        "adapter.invalid_input",  # Python 3.11 and 3.12 notice the loop
        "adapter.replay_missing",  # 3.13 and later see a file that is not there
    )
