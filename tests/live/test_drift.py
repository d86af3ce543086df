"""Another version of the CLI: what its vendor changed is a note, what the author changed is a miss."""

from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.live.cassette import Cassette, Difference, Written
from agenteval.live.wires import WIRES, request_parts
from live_projects import LiveProject, needs_sandbox

VENDOR = "First words of the CLI.\n\nAnswer in short sentences.\n\nDo not make up links."
AUTHOR = "You serve the order desk.\nLook every order up before you answer."
FILE = (
    'APPENDED = "You serve the order desk.\\n" \\\n    "Look every order " + "up before you answer."\nRULE = "Be rude."\n'
    """
Usage:
metadata:
Send a message to another agent.
style: Talk in rhymes.
- Be brief.
state: unknown
description: Reviews code
Never look an order up that the guest has not named to you.
"""
)
ENDS = "When the conversation grows long, some or all of the current context is summarized.\n\n<total_tokens>15 tokens left</total_tokens>"
OLD, NEW = "claude-cli/2.1.300", "claude-cli/2.1.301"
WITH = f"{VENDOR}\n\n{AUTHOR}"
MISSES = {
    "a line of the appended": (WITH, WITH.replace("Look every", "Look no")),
    "the whole of it, new": (VENDOR, f"{VENDOR}\n\nMade up by code."),
    "the whole of it, gone": (f"{VENDOR}\n\nMade up by code.", VENDOR),
    "its last line, made up by code": (f"{WITH}\nToday: sunny", f"{WITH}\nToday: rain"),
    "its first line, which stands in no file": (f"{VENDOR}\nFor Ann:\n{AUTHOR}", f"{VENDOR}\nFor Bob:\n{AUTHOR}"),
    "a line in its middle that is gone": (WITH.replace("\nLook", "\nDear guest\nLook"), WITH),
    "a line of a file in the middle of the prompt": (WITH, WITH.replace("Answer in short sentences.", "Be rude.")),
    "a short value of a file": (WITH, WITH.replace("Answer in short sentences.", "Talk in rhymes.")),
    "a short entry of a list": (WITH.replace("Answer", "Be brief.\nAnswer"), WITH),
    "an agent's description": (f"- bot: Reviews code (Tools: Read, Grep)\n{VENDOR}", f"- bot: Deletes code (Tools: Read, Grep)\n{VENDOR}"),
    "all that is appended, beside a new end of the CLI's": (f"{VENDOR}\n\nMade by code.", f"{VENDOR}\n\n{ENDS}\n\nMade by other code."),
    "the first appended line, beside a new end of the CLI's": (f"{VENDOR}\n\nFor Ann:\n{AUTHOR}", f"{VENDOR}\n\n{ENDS}\n\nFor Bob:\n{AUTHOR}"),
    "the author's and the vendor's at once": (WITH, WITH.replace("First", "The first").replace("Look every", "Look no")),
}  # fmt: skip
NOTES = {
    "a line of the vendor's": (WITH, WITH.replace("Answer in short", "Write long")),
    "a line of the vendor's, beside nothing appended": (VENDOR, VENDOR.replace("Answer in short", "Write long")),
    "a new end before what is appended": (WITH, f"{VENDOR}\n\n{ENDS}\n\n{AUTHOR}"),
    "a new end behind what is appended": (WITH, f"{WITH}\n\n<total_tokens>15 tokens left</total_tokens>"),
    "a key that stands in a file": (WITH, WITH.replace("Answer", "metadata:\nAnswer")),
    "letters that stand within a word of a file": (WITH, WITH.replace("Answer", "serve\nAnswer")),
    "a new first line": (WITH, f"More words of the CLI.\n{WITH}"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('{"name": "f", "in": {"n": 1}}', '{"name": "f", "in": {"n": 2}}', "in.n: 1 → 2"),
        ('[{"id": 1}, {"id": 2}]', '[{"id": 2}]', '[0]: removed {"id": 1}'),
        ('{"a": 1}', '{"a": 1.0}', "'{\"a\": 1}' → '{\"a\": 1.0}'"),
        ('{"a": 1}', "[no json", "'{\"a\": 1}' → '[no json'"),
        (
            str([*range(6)]),
            str([*range(9, 3, -1)]),
            "[0]: 0 → 9; [1]: 1 → 8; [2]: 2 → 7; [3]: 3 → 6; and 2 more",
        ),
    ],
)
def test_a_miss_in_json_is_the_path_and_the_two_values(before: str, after: str, words: str) -> None:
    """JSON that differs in its spelling alone, and other texts, are shown as texts."""
    assert Difference("tool f", "author", before, after).in_words() == f"tool f changed: {words}"


def system(text: str, blocks: int) -> list[dict[str, Any]]:
    """The prompt in one block or two: versions of the CLI divide it in other ways."""
    texts = [text] if blocks == 1 else text.split("\n\n", 1)
    return [{"type": "text", "text": each} for each in texts]


def played(before: str, after: str, client: str = NEW, *, stale: Any = "miss", blocks: int = 1) -> Any:
    """What a cassette of the one prompt answers to the other."""
    cassette = Cassette(client=OLD, written=lambda: Written([FILE]))
    wire = WIRES["messages"]
    first, second = (
        request_parts(wire, {"model": "m", "system": system(text, number), "messages": []}, by_cli=True)
        for text, number in ((before, 1), (after, blocks))
    )
    cassette.add("messages", first, {"content": []})
    return cassette.play("messages", second, client=client, stale=stale)


@pytest.mark.parametrize("what", MISSES)
def test_what_the_author_changed_within_the_vendors_prompt_is_a_miss(what: str) -> None:
    """Words that stand in the author's files, or at the end, where the CLI puts what an author appends."""
    before, after = MISSES[what]
    for blocks in (1, 2):
        message, _, why = played(before, after, blocks=blocks)
        assert message is None
        assert "the author's words in system prompt" in why
        assert why.endswith(f" (recorded with {OLD}, asked by {NEW})")
    assert played(before, after, stale="mark")[0] is not None
    assert "author" in {each.kind for each in played(before, after, stale="mark")[1]}


@pytest.mark.parametrize("what", NOTES)
def test_what_the_vendor_changed_is_a_note(what: str) -> None:
    """With another version; with the same one it is a miss."""
    before, after = NOTES[what]
    for blocks in (1, 2):
        message, differences, _ = played(before, after, blocks=blocks)
        assert message is not None
        assert {each.kind for each in differences} == {"vendor"}
    assert played(before, after, OLD)[0] is None


@pytest.mark.parametrize(
    ("tool", "line", "is_miss"),
    [
        ("Grep", "Usage:", False),
        ("SendMessage", "Send a message to another agent.", False),
        ("Agent", "- bot: Reviews code (Tools: *)", True),
        ("Skill", "- rhyme: Talk in rhymes.", True),
        ("Bash", "Be rude.", True),
        ("Bash", "Usage:", False),
        ("Agent", "- Shell: unknown", False),
        ("WebSearch", "Never look an order up that the guest has not named to you.", True),
    ],
)
def test_words_in_a_tool_of_the_cli_are_the_authors_where_it_lists_agents_and_skills(
    tool: str, line: str, is_miss: bool
) -> None:
    """The CLI describes its other tools alone: short lines in them stand in the author's files by chance."""
    cassette, wire = Cassette(client=OLD, written=lambda: Written([FILE])), WIRES["messages"]
    first, second = (
        request_parts(
            wire,
            {"model": "m", "messages": [], "tools": [{"name": tool, "description": text}]},
            by_cli=True,
        )
        for text in ("Does it.", f"Does it.\n{line}\nNow.")
    )
    cassette.add("messages", first, {"content": []})
    assert (cassette.play("messages", second, client=NEW)[0] is None) == is_miss


AGENT = """
import json, os, urllib.request
from pathlib import Path
system = [{"type": "text", "text": "Words of the CLI.\\n\\n" + bytes.fromhex(Path("vendor.txt").read_text()).decode() + "\\n\\n" + Path("own.txt").read_text()}]
body = {"model": "m", "max_tokens": 5, "system": system, "messages": [{"role": "user", "content": "go"}]}
head = {"user-agent": Path("version.txt").read_text()}
sent = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), head)
print(json.load(urllib.request.urlopen(sent))["content"][0]["text"])
"""


@needs_sandbox
def test_a_changed_append_is_stale_and_drift_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run with a new version of the CLI: first its words change, then the author's."""
    monkeypatch.chdir(tmp_path)
    project = LiveProject(tmp_path, monkeypatch, words=())
    files = {
        "agent.py": AGENT,
        "vendor.txt": b"Be kind.".hex(),
        "own.txt": "Serve the desk.",
        "version.txt": OLD,
    }
    for name, text in files.items():
        project.write(name, text)
    project.test(
        fixtures=[], assertions=[{"id": "tells", "type": "output_contains", "params": {"all_of": ["ships"]}}]
    )
    project.track()
    project.recorded(["It ships."])
    (project.root / "vendor.txt").write_text(b"Be very kind.".hex())  # in no file of the author's
    (project.root / "version.txt").write_text(NEW)
    project.track()
    capsys.readouterr()
    assert project.live().exit_code == 0
    assert "vendor changed 1" in capsys.readouterr().out
    assert main(["cassette", "drift", "evals"]) == 0
    assert capsys.readouterr().out.startswith("drift")
    (project.root / "own.txt").write_text("Guess.")
    project.track()
    run = project.live()
    assert (run.exit_code, run.only_result()["error"]["reason_code"]) == (2, "live.cassette_miss")
