"""Planted secrets, through the whole command line: none gets out, and a redactor that fails is noticed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenteval.cli import main
from agenteval.redaction.occurrences import KnownValues, token
from agenteval.redaction.redactor import Redactor
from planted import MORE, PASSWORD, PLANTED, PRIVATE_KEY
from projects import Project, make_replay

OTHERS = {kind: value for kind, value in PLANTED.items() if kind != "credential"}
EVERY_FLAG = [[], ["-v"], ["-q"], ["--json"], ["-v", "--no-artifacts"], ["--collect-only"]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project, and the current directory."""
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def texts(project: Project, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """All that left the process: both streams, every file of artifacts, and their names."""
    out, err = capsys.readouterr()
    files = [path for path in (project.root / "artifacts").rglob("*") if path.is_file()]
    read = {path.name: path.read_text(encoding="utf-8") for path in files}
    return {"stdout": out, "stderr": err, "names": " ".join(read), **read}


def seen(where: dict[str, str], values: dict[str, str] = PLANTED) -> dict[str, set[str]]:
    """Which planted values show where; also in another case, in pieces of twelve characters, or escaped."""
    found: dict[str, set[str]] = {}
    for kind, value in values.items():
        pieces = {value[at : at + 12].lower() for at in range(len(value) - 11)}
        for place, text in where.items():
            lowered = text.lower()
            if any(piece in lowered or json.dumps(piece)[1:-1] in lowered for piece in pieces):
                found.setdefault(kind, set()).add(place)
    return found


def everything(name: str = "it") -> str:
    """A text that holds all of them."""
    return f"{name}: " + " ".join(OTHERS.values()) + f' "password": "{PASSWORD}"'


def plant(project: Project, name: str = "fail", **overrides: Any) -> Path:
    """A failing test with every secret in every kind of content."""
    keyed: dict[str, Any] = {"password": PASSWORD, **OTHERS}
    replay = make_replay(
        {
            "type": "tool_call",
            "tool": "send",
            "call_id": "c1",
            "args": {"deep": [keyed], "text": everything()},
        },
        {
            "type": "tool_result",
            "tool": "send",
            "call_id": "c1",
            "result": {"body": json.dumps(keyed), **keyed},
        },
        {"type": "memory_read", "group_id": "family", "content": f"- line\n- {everything('memory')}\n"},
        {"type": "tool_call", "tool": "send", "call_id": "c2", "args": {}},
        {"type": "error", "call_id": "c2", "error_type": "boom", "message": everything("error")},
        input_messages=[{"role": "user", "content": everything("please")}],
        final_output={"role": "assistant", "content": f"{'word ' * 20}{everything('output')}? {PRIVATE_KEY}"},
    )
    assertions = [
        {
            "id": "searches",
            "type": "must_call_tool",
            "params": {"tool": "web_search"},
            "description": everything(),
        },
        {
            "id": "sends",
            "type": "must_call_tool",
            "params": {"tool": "send", "args": {"args_contains": {"text": f"no {everything()}"}}},
        },
        {"id": "says", "type": "output_contains", "params": {"any_of": [f"else {everything()}"]}},
        {"id": "omits", "type": "output_omits", "params": {"patterns": ["output: .*"], "regex": True}},
        {"id": "form", "type": "output_matches_format", "params": {"format": "bullet_list"}},
        {"id": "sentences", "type": "output_matches_format", "params": {"format": "any", "max_sentences": 1}},
        {"id": "none", "type": "max_tool_calls", "params": {"max_total": 0}},
    ]
    spec: dict[str, Any] = {
        "title": everything("About"),
        "description": everything(),
        "tags": [OTHERS["aws-access-key"], OTHERS["email"]],
        "scenario": {
            "group_id": "family",
            "trigger": "user_message",
            "input_messages": [{"role": "user", "content": everything("please")}],
            "memory_snapshot": [{"group_id": "family", "content": everything("memory")}],
        },
        "assertions": [each for each in assertions if each["id"] != "sentences"],
        "replay": replay,
        "reporting": {"save_trace": True},
    }
    return project.add("fail", name, **{**spec, **overrides})


@pytest.mark.parametrize("flags", EVERY_FLAG, ids=lambda flags: " ".join(flags) or "plain")
def test_planted_secrets_are_nowhere(
    flags: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments, results, memory, messages, errors, output, titles, tags and parameters: neither screen nor file."""
    plant(project)
    assert main(["run", "tests", *flags]) == (0 if "--collect-only" in flags else 1)
    where = texts(project, capsys)
    assert seen(where) == {}
    if "--no-artifacts" not in flags and "--collect-only" not in flags:
        trace = where["nanoclaw.t.fail.x.trace.json"]
        assert [kind for kind, value in PLANTED.items() if token(value, kind) not in trace] == []
        assert [
            kind
            for kind, value in PLANTED.items()
            if token(value, kind) not in where["nanoclaw.t.fail.x.result.json"]
        ] == []
        assert "MIIEpAIBA" not in trace


def test_without_redaction_they_show(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The test above can fail: with detection turned off each of them is on the screen and in both files."""
    (project.root / "agenteval.yaml").write_text("redaction:\n  kinds: []\n", encoding="utf-8")
    plant(project)
    assert main(["run", "tests", "-v"]) == 1
    places = {"stdout", "nanoclaw.t.fail.x.result.json", "nanoclaw.t.fail.x.trace.json"}
    assert {kind: where & places for kind, where in seen(texts(project, capsys)).items()} == dict.fromkeys(
        PLANTED, places
    )


def test_what_stands_under_the_authors_own_keys_is_hidden(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A password that only an `x-` key of the test names is found where the recording quotes it without a name."""
    replay = make_replay(final_output={"role": "assistant", "content": f"It is {PASSWORD}."})
    own: dict[str, Any] = {"x-login": {"password": PASSWORD}, "reporting": {"save_trace": True}}
    project.add("fail", replay=replay, **own)
    assert main(["run", "tests", "-v"]) == 1
    where = texts(project, capsys)
    assert seen(where) == {}
    assert token(PASSWORD, "credential") in where["nanoclaw.t.fail.x.trace.json"]


@pytest.mark.parametrize(
    "command", [["run", "tests"], ["list", "tests", "--json"], ["suite", "new", "tests"]]
)
def test_what_a_field_of_the_authors_own_holds_is_hidden(
    command: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The title, and a check, show the value of a redacted field that only an `x-` key of the test names."""
    door: dict[str, Any] = {"x-door": {"pin": "4711-Kiel-harbour"}}
    project.add(
        "fail",
        title="Door 4711-Kiel-harbour",
        assertions=[{"id": "a", "type": "output_contains", "params": {"any_of": ["4711-Kiel-harbour"]}}],
        reporting={"redact_fields": ["pin"]},
        **door,
    )
    main(command)
    assert seen(texts(project, capsys), {"pin": "4711-Kiel-harbour"}) == {}


def test_verdicts_are_those_of_the_real_values(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The same assertions fail, and pass, with detection and without."""
    plant(project)
    ends = []
    for number, config in enumerate(("color: never\n", "redaction:\n  kinds: []\n")):
        (project.root / "agenteval.yaml").write_text(config, encoding="utf-8")
        main(["run", "tests", "--run-id", f"run-{number}"])
        folder = project.root / "artifacts" / f"run-{number}"
        result = json.loads((folder / "nanoclaw.t.fail.x.result.json").read_text(encoding="utf-8"))
        ends.append(
            [(each["id"], each["status"], each["evidence"]["event_refs"]) for each in result["assertions"]]
        )
    assert ends[0] == ends[1]
    capsys.readouterr()


def test_equal_values_have_equal_tokens_across_tests_and_runs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a reader can still tell that two results are about the same key."""
    for name in ("one", "two"):
        plant(project, name)
    tokens = []
    for run_id in ("run-1", "run-2"):
        main(["run", "tests", "--run-id", run_id])
        for name in ("one", "two"):
            text = (project.root / "artifacts" / run_id / f"nanoclaw.t.{name}.x.trace.json").read_text(
                "utf-8"
            )
            tokens.append(sorted(set(re.findall(r"\[redacted:[a-z-]+:[0-9a-f]{8}\]", text))))
    assert len(tokens) == 4
    assert all(each == tokens[0] for each in tokens)
    assert {token(value, kind) for kind, value in PLANTED.items()} <= set(tokens[0])
    capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [["run"], ["run", "-v", "--json"], ["validate"], ["validate", "--json"], ["list"], ["list", "--json"]],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title:", f"titel: {everything()}\nx:"),
        ("mode: replay", f"mode: {everything().replace(':', '')}"),
        ("mode: replay", f"mode: [1\npassword: {PASSWORD}\nb: {OTHERS['jwt']}"),
        ("mode: replay", "mode: 'replay\n" + everything()),
        ("mode: replay", f"mode: {'x' * 110}{OTHERS['jwt']}{OTHERS['anthropic-key']}"),
        ("mode: replay", f"{OTHERS['github-token']}: 1\nmode: replay\n{OTHERS['github-token']}: 2"),
        ("mode: replay", f"mode: replay\n'{OTHERS['anthropic-key']}': 1\n{OTHERS['aws-access-key']}: x"),
    ],
    ids=["unknown key", "wrong value", "syntax", "open quote", "cut line", "duplicate", "secret keys"],
)
def test_an_invalid_test_file_gives_nothing_away(
    command: list[str], old: str, new: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither message, nor excerpt, nor hint, nor summary shows a secret of a file that could not be loaded."""
    path = plant(project)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert main([command[0], "tests", *command[1:]]) == 3
    where = texts(project, capsys)
    assert seen(where) == {}
    if "--json" in command:
        json.loads(where["stdout"])
    if "--json" not in command or command[0] == "run":
        assert "[redacted:" in where["stdout"] + where["stderr"]  # the excerpt


def test_fields_of_an_invalid_test_file_are_redacted(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """`redact_fields` holds for a file that is otherwise invalid."""
    path = plant(project, reporting={"redact_fields": ["memo"]}, scenario={"memo": "the-marmalade-4711"})
    assert main(["validate", "tests"]) == 3
    assert "marmalade" not in "".join(capsys.readouterr())
    path.write_text(path.read_text(encoding="utf-8").replace("memo:", "momo:"), encoding="utf-8")
    assert main(["validate", "tests"]) == 3
    assert "marmalade" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "written", ["'it''s-4711-Kiel'", '"it\\x27s-47\\x311-Kiel"', '"it\'s-4711-\\u004biel"']
)
@pytest.mark.parametrize("flags", [[], ["--secret", "MEMO"]], ids=["field", "variable"])
def test_a_value_of_an_invalid_test_file_is_redacted_as_it_is_written(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    written: str,
) -> None:
    """YAML has escapes of its own: an excerpt shows them, and the whole scalar is hidden."""
    monkeypatch.setenv("MEMO", "it's-4711-Kiel")
    path = plant(project, scenario={"memo": "here"}, reporting={"redact_fields": [] if flags else ["memo"]})
    path.write_text(
        path.read_text(encoding="utf-8").replace("memo: here", f"memo: {written}"), encoding="utf-8"
    )
    assert main(["run", "tests", *flags]) == 3
    where = texts(project, capsys)
    hidden = token("it's-4711-Kiel", "env" if flags else "field")
    assert f"memo: {written[0]}{hidden}{written[0]}" in where["stdout"]
    assert [place for place, text in where.items() if "4711" in text or "Kiel" in text] == []


@pytest.mark.parametrize("number", ["01234567", "0x12AB34CD", "12_345_678", "1.234567e+3"])
def test_a_number_under_a_redacted_field_is_redacted_as_it_is_written(
    project: Project, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    """An excerpt shows what stands in the file, and not what it means."""
    path = plant(project, reporting={"redact_fields": ["memo"]}, scenario={"memo": "here"})
    path.write_text(
        path.read_text(encoding="utf-8").replace("memo: here", f"memo: {number}"), encoding="utf-8"
    )
    assert main(["validate", "tests"]) == 3
    out = "".join(capsys.readouterr())
    assert "memo: [redacted:field:" in out
    assert number not in out


def test_a_test_file_that_is_no_yaml_is_not_quoted_when_it_redacts_fields(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody knows which of its words are the values of these fields."""
    path = plant(project)
    text = path.read_text(encoding="utf-8")
    for fields, seen_in in (("reporting: {redact_fields: [memo]}\n", False), ("", True)):
        path.write_text(f"{fields}memo: [the-marmalade-4711\n{text}", encoding="utf-8")
        assert main(["validate", "tests"]) == 3
        out = capsys.readouterr().out
        assert "error[yaml.syntax]" in out
        assert ("marmalade" in out) == seen_in


@pytest.mark.parametrize(
    "recording",
    [
        '{"text": "' + everything().replace('"', '\\"') + '",,}',
        '{"a": "' + everything().replace('"', '\\"') + '", "a": 1}',
        '{"schema_version": "0.1", "' + OTHERS["github-token"] + '": 1}',
        '{"x": "' + "y" * 100 + OTHERS["jwt"] + '" z}',
        OTHERS["aws-access-key"],
    ],
    ids=["syntax", "duplicate", "unknown key", "cut line", "no json"],
)
@pytest.mark.parametrize("flags", [[], ["-v"], ["--json"]], ids=lambda flags: " ".join(flags) or "plain")
def test_an_invalid_recording_gives_nothing_away(
    flags: list[str], recording: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The excerpt of a recording that cannot be read is redacted, also of what the test knows nothing of."""
    project.add("fail")
    (project.root / "tests" / "fail" / "replay.json").write_text(recording, encoding="utf-8")
    assert main(["run", "tests", *flags]) == 2
    assert seen(texts(project, capsys)) == {}


def test_an_invalid_configuration_gives_nothing_away(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors that come before any test are redacted as well."""
    project.add("pass")
    (project.root / "agenteval.yaml").write_text(
        f"color: {everything().replace(':', '')}\n", encoding="utf-8"
    )
    assert main(["run", "tests"]) == 3
    where = texts(project, capsys)
    assert seen(where) == {}
    assert "[redacted:aws-access-key:" in where["stderr"]


def test_the_command_line_gives_nothing_away(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """What a message quotes of the arguments is redacted: paths, expressions, options that do not exist."""
    project.add("pass")
    key = OTHERS["github-token"]
    for arguments in (
        ["run", f"tests/{key}"],
        ["run", "tests", "-k", f"({key}"],
        ["run", "tests", f"--{key}"],
        [key],
    ):
        assert main(arguments) in (2, 3)
    assert main(["explain", key]) in (2, 3)
    assert seen(texts(project, capsys)) == {}


def test_a_bug_gives_nothing_away(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the message of an unexpected exception nor the traceback of -v."""

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(everything("bug"))

    project.add("pass")
    monkeypatch.setattr("agenteval.cli.run.RunDirectory", broken)
    assert main(["run", "tests", "-v"]) == 2
    where = texts(project, capsys)
    assert "Traceback" in where["stderr"]
    assert seen(where) == {}


@pytest.mark.parametrize("place", ["adapter", "assertion"])
def test_a_crash_gives_nothing_away(
    place: str, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an adapter or a check quotes when it breaks down is redacted, in the traceback of -v too."""

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(everything("crash"))

    project.add("pass")
    target = {
        "adapter": "agenteval_nanoclaw.NanoClawAdapter.trace",
        "assertion": "agenteval.assertions.process.MustCallTool.check",
    }[place]
    monkeypatch.setattr(target, broken)
    assert main(["run", "tests", "-v"]) == 2
    where = texts(project, capsys)
    assert "crash" in where["stdout"]
    assert seen(where) == {}


def test_the_id_of_a_test_names_no_secret(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Not on the screen, not as the name of a file, not as a task of the EvalSummary, where it is in lower case."""
    plant(project, id=f"nanoclaw.t.{OTHERS['aws-access-key']}.x")
    assert main(["run", "tests"]) == 1
    assert seen(texts(project, capsys)) == {}


@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["suite", "new"]])
def test_an_id_made_of_a_secret_is_not_listed(
    command: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test holds the key itself; its id has it in small letters, in which it has no known form."""
    plant(project, id=f"nanoclaw.t.{OTHERS['aws-access-key'].lower()}.x")
    main([*command, "tests"])
    where = texts(project, capsys)
    assert where["stdout"] + where["stderr"] != ""
    assert seen(where) == {}


@pytest.mark.parametrize(
    "command",
    [
        ["run", "-v"],
        ["run", "--json"],
        ["run", "--github"],
        ["list"],
        ["list", "--json"],
        ["mutate"],
        ["trace"],
        ["suite", "new"],
    ],
    ids=" ".join,
)
def test_no_name_of_an_author_shows_a_part_of_a_secret(
    command: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, tags, tools and groups that hold a piece of a key, in small letters: a prefix of it, without its form."""
    piece = OTHERS["github-token"][6:26].lower()
    replay = make_replay(
        {"type": "tool_call", "tool": f"t{piece}", "call_id": f"c{piece}", "args": {"key": "x"}},
        scenario={"group_id": f"g{piece}", "trigger": "user_message"},
        input_messages=[{"role": "user", "content": f"use {OTHERS['github-token']}"}],
    )
    project.add(
        "pass",
        id=f"nanoclaw.t.{piece}.x",
        tags=[piece],
        scenario={
            "group_id": f"g{piece}",
            "trigger": "user_message",
            "input_messages": [{"role": "user", "content": f"use {OTHERS['github-token']}"}],
        },
        tools={"available": [f"t{piece}", f"u{piece}"]},
        assertions=[
            {"id": f"{word}-{piece}", "type": kind, "params": {"tool": f"t{piece}"}}
            for word, kind in (("calls", "must_call_tool"), ("never", "must_not_call_tool"))
        ],
        replay=replay,
    )
    main([*command, "tests/pass" if command == ["trace"] else "tests"])
    where = texts(project, capsys)
    assert where["stdout"] + where["stderr"] != ""
    assert seen(where) == {}


def test_names_that_differ_only_in_a_secret_are_told_apart(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each piece has a token of its own."""
    key = OTHERS["github-token"].lower()
    for name, piece in (("one", key[4:22]), ("two", key[12:30])):
        project.add("pass", name, id=f"nanoclaw.t.{piece}.x", **{"x-key": OTHERS["github-token"]})  # type: ignore[arg-type]
    assert main(["list", "tests", "--json"]) == 0
    ids = [test["id"] for test in json.loads(capsys.readouterr().out)["tests"]]
    assert len(set(ids)) == len(ids) == 2
    assert all(re.fullmatch(r"nanoclaw\.t\.\[redacted:part:[0-9a-f]{8}\]\.x", each) for each in ids)


@pytest.mark.parametrize(
    "test_id", ["hf/" + "a1B2c3D4e5F6g7H8i9J0", "open?sesame", "github?pat_" + "a1B2c3D4e5F6g7H8i9J0"]
)
@pytest.mark.parametrize("flags", [(), ("-n", "2"), ("--shard", "1/1")], ids=" ".join)
def test_an_id_that_looks_like_a_secret_as_a_file_name_leaves_a_run_that_can_be_read(
    flags: tuple[str, ...],
    test_id: str,
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its files get a name that nobody redacts: where the summary tells it, they are found."""
    monkeypatch.setenv("MY_KEY", "Open Sesame!")
    project.add("pass", id=test_id, reporting={"save_trace": True})
    project.add("pass", "other")
    assert main(["run", "tests", "--run-id", "run-1", "--secret", "MY_KEY", *flags]) == 0
    run = "artifacts/run-1"
    if flags[:1] == ("--shard",):
        run = "artifacts/merged"
        assert main(["merge", "artifacts/run-1-shard-1-of-1", "--run-id", "merged"]) == 0
    assert main(["report", run, "--html", "report.html", "--junit-xml", "junit.xml"]) == 0
    assert test_id in (project.root / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("given_by", ["option", "configuration", "environment"])
def test_values_of_the_environment_are_nowhere(
    given_by: str, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--secret NAME`, or `secrets` of the configuration, redacts what a variable holds, wherever it stands."""
    monkeypatch.setenv("MY_KEY", "quite ordinary words")
    monkeypatch.setenv("MY_OTHER", "marmalade")
    flags = []
    if given_by == "option":
        flags = ["--secret", "MY_KEY", "--secret", "MY_OTHER"]
    elif given_by == "configuration":
        (project.root / "agenteval.yaml").write_text("secrets: [MY_KEY, MY_OTHER]\n", encoding="utf-8")
    else:
        monkeypatch.setenv("AGENTEVAL_SECRETS", "MY_KEY, MY_OTHER")
    text = "these are quite ordinary words about Marmalade"
    plant(project, title=text, replay=make_replay(final_output={"role": "assistant", "content": text}))
    project.add("invalid", title=text)
    assert main(["run", "tests", "-v", "--save-traces", *flags]) == 3
    where = texts(project, capsys)
    assert seen(where, {"one": "quite ordinary words", "two": "marmalade!!!"[:9]}) == {}
    assert [name for name, text in where.items() if "marmalade" in text.lower()] == []
    assert token("marmalade", "env") in where["nanoclaw.t.fail.x.result.json"]


UNSET = (
    "error[usage.secret_unset]: the environment variable MY_KEY is not set, so its value cannot be redacted\n"
    "  next: set MY_KEY, or remove it from --secret and from `secrets` in the configuration\n"
)
SHORT = (
    "error[usage.secret_short]: the value of MY_KEY has fewer than 4 characters: it would match everywhere\n"
    "  next: use a longer value, or remove MY_KEY from --secret and from `secrets` in the configuration\n"
)


@pytest.mark.parametrize("value", ["sk-ant-api03-AbCdEf", "hunter2hunter2", "AKIAZ7Q4XN2PLM5RTVWB"])
def test_a_value_given_for_the_name_of_its_variable_is_not_shown(
    value: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell puts it in the place of `$MY_KEY`."""
    assert main(["run", "tests", "--secret", value]) == 2
    assert capsys.readouterr().err == (
        f"error[usage.secret_unset]: the environment variable {value[:3]}… is not set, so its value cannot be redacted\n"
        '  next: give the name of a variable (MY_KEY), not its value ("$MY_KEY")\n'
    )


@pytest.mark.parametrize(
    ("value", "message"), [(None, UNSET), ("", UNSET), ("abc", SHORT)], ids=["not set", "empty", "short"]
)
def test_a_variable_that_cannot_be_redacted_is_an_error(
    value: str | None,
    message: str,
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A misspelt name would protect nothing; commands that run no test do not mind."""
    project.add("pass")
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    assert main(["run", "tests", "--secret", "MY_KEY"]) == 2
    assert capsys.readouterr().err == message
    assert not (project.root / "artifacts").exists()
    (project.root / "agenteval.yaml").write_text("secrets: [MY_KEY]\n", encoding="utf-8")
    assert main(["run", "tests"]) == 2
    assert main(["validate", "tests"]) == 0


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redactor that hides nothing where results are made and written."""
    monkeypatch.setattr(KnownValues, "mask", lambda _, text, **__: text)
    monkeypatch.setattr(Redactor, "_without_found", lambda _, text: text)


@pytest.mark.usefixtures("broken")
def test_a_redactor_that_fails_is_noticed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The run ends with exit 2 and names files and kinds; what would show a value is neither written nor printed."""
    plant(project)
    project.add("pass")
    assert main(["run", "tests", "--run-id", "run-1"]) == 2
    where = texts(project, capsys)
    names = set(where) - {"stdout", "stderr", "names"}
    assert names == {*("nanoclaw.t.pass.x.result.json", "events.jsonl", "eval-summary.json", "summary.json")}
    assert seen({name: where[name] for name in (*names, "stdout")}) == {}
    kinds = "anthropic-key, aws-access-key, credential, email, github-token, jwt"
    problems = json.loads(where["summary.json"])["problems"]
    assert [(each["reason_code"], each["message"]) for each in problems][:2] == [
        (
            "redaction.leak",
            f"nanoclaw.t.fail.x.trace.json is not written: values of kind {kinds}, private-key would show",
        ),
        (
            "redaction.leak",
            f"nanoclaw.t.fail.x.result.json is not written: values of kind {kinds} would show",
        ),
    ]
    rows = json.loads(where["summary.json"])["tests"]
    assert {each["test_case_id"]: each["result"] for each in rows} == {
        "nanoclaw.t.fail.x": None,
        "nanoclaw.t.pass.x": "nanoclaw.t.pass.x.result.json",
    }
    assert where["stdout"].splitlines()[-1] == "exit 2: redaction.leak: redaction failed for 2 files"
    assert problems[0]["message"] in " ".join(where["stdout"].split())


@pytest.mark.usefixtures("broken")
def test_a_redactor_that_fails_is_noticed_without_files(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same with --no-artifacts: the result is not printed."""
    plant(project)
    assert main(["run", "tests", "--no-artifacts"]) == 2
    where = texts(project, capsys)
    assert seen(where) == {}
    assert "the result of nanoclaw.t.fail.x is not written: values of kind " in " ".join(
        where["stdout"].split()
    )


@pytest.mark.usefixtures("broken")
def test_a_redactor_that_fails_on_a_field_is_noticed(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values that only the author's names make sensitive are looked for as well."""
    replay = make_replay(final_output={"role": "assistant", "content": "it is out"})
    scenario = {
        "group_id": "family",
        "trigger": "user_message",
        "input_messages": [{"role": "user", "content": "Hello?"}],
        "memory_snapshot": [{"group_id": "family", "content": "marmalade"}],
    }
    says = {"id": "says", "type": "output_contains", "params": {"any_of": ["a jar of marmalade"]}}
    project.add(
        "fail", replay=replay, scenario=scenario, assertions=[says], reporting={"redact_fields": ["content"]}
    )
    assert main(["run", "tests"]) == 2
    where = texts(project, capsys)
    assert "values of kind field" in where["stdout"] or "a value of kind field" in where["stdout"]
    assert [name for name, text in where.items() if "marmalade" in text] == []


@pytest.mark.usefixtures("broken")
def test_a_summary_that_would_show_a_value_is_not_written(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs to no test is checked too: here the name of a folder."""
    monkeypatch.setattr("agenteval.running.run_recorder.redacted_problems", lambda problems, _: problems)
    project.add("pass", OTHERS["github-token"], id="nanoclaw.t.a.x")
    assert main(["run", "tests", "--run-id", "run-1"]) == 2
    where = texts(project, capsys)
    assert "summary.json" not in where
    assert (
        "error[redaction.leak]: redaction failed: a value of kind github-token would show" in where["stderr"]
    )


def test_a_file_from_elsewhere_is_looked_at(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that a plugin put into the run's directory is removed when it shows a secret, and kept when not."""
    from agenteval_nanoclaw import NanoClawAdapter

    real = NanoClawAdapter.trace

    def trace(self: Any, case: Any, context: Any) -> Any:
        folder = project.root / "artifacts" / context.run_id
        (folder / "sub").mkdir()
        (folder / "good.txt").write_text("nothing here", encoding="utf-8")
        (folder / "sub" / "bad.txt").write_text(OTHERS["jwt"], encoding="utf-8")
        return real(self, case, context)

    monkeypatch.setattr(NanoClawAdapter, "trace", trace)
    project.add("pass")
    assert main(["run", "tests", "--run-id", "run-1"]) == 2
    where = texts(project, capsys)
    assert seen(where) == {}
    assert "good.txt" in where
    assert "bad.txt" not in where
    assert "bad.txt is not written: a value of kind jwt would show" in where["stdout"]


def test_a_trace_that_is_not_suspicious_is_what_it_was(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without anything sensitive no byte of a file is different from what it is with detection turned off."""
    project.add("pass", reporting={"save_trace": True})
    found: list[bytes] = []
    for config in ("color: never\n", "redaction:\n  kinds: []\n"):
        (project.root / "agenteval.yaml").write_text(config, encoding="utf-8")
        assert main(["run", "tests", "--run-id", "same", "--artifacts-dir", f"out-{len(found)}"]) == 0
        found.append(
            (project.root / f"out-{len(found)}" / "same" / "nanoclaw.t.pass.x.trace.json").read_bytes()
        )
    assert found[0] == found[1]
    capsys.readouterr()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_place_and_no_cut_lets_a_secret_out(
    data: st.DataObject, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Random secrets at random places of long texts, so that cuts fall anywhere in them, escaped or not."""
    forms = {
        **OTHERS,
        **{kind: value for kind, value in MORE.items() if kind not in ("bearer-token", "private-key")},
    }
    kind = data.draw(st.sampled_from(sorted(forms)))
    value = forms[kind]
    filler = data.draw(st.sampled_from(["word ", "x", 'a "quoted" word\n', "- item\n", "é\\ "]))
    before = (filler * 700)[: data.draw(st.integers(0, 700))] + " "
    text = f"{before}{value} {filler * 40}?"
    text = json.dumps({"inner": text}) if data.draw(st.booleans()) else text
    number = data.draw(st.integers(0, 10**9))
    name = f"t{number}"
    place = data.draw(st.sampled_from(["output", "args", "result", "error", "memory", "message", "title"]))
    steps: dict[str, list[dict[str, Any]]] = {
        "args": [{"type": "tool_call", "tool": "t", "call_id": "c", "args": {"text": text}}],
        "result": [
            {"type": "tool_call", "tool": "t", "call_id": "c", "args": {}},
            {"type": "tool_result", "tool": "t", "call_id": "c", "result": [text]},
        ],
        "error": [
            {"type": "tool_call", "tool": "t", "call_id": "c", "args": {}},
            {"type": "error", "call_id": "c", "error_type": "boom", "message": text},
        ],
        "memory": [{"type": "memory_read", "group_id": "family", "content": text}],
    }
    script = steps.get(place) or [{"type": "memory_read", "group_id": "family", "content": "x"}]
    replay = make_replay(
        *script,
        input_messages=[{"role": "user", "content": text if place == "message" else "Hi"}],
        final_output={"role": "assistant", "content": text if place == "output" else "Done."},
    )
    path = project.root / "tests" / name / "test.yaml"
    if not path.exists():
        overrides = {"title": text} if place == "title" else {}
        plant(
            project,
            name,
            replay=replay,
            tags=[],
            description="x",
            **{"title": "A", "scenario": SCENARIO, **overrides},
        )
    main(
        [
            "run",
            str(path),
            "-v",
            "--artifacts-dir",
            "artifacts",
            "--run-id",
            f"run-{number}-{data.draw(st.uuids())}",
        ]
    )
    assert seen(texts(project, capsys), {kind: value}) == {}


SCENARIO: dict[str, Any] = {
    "group_id": "family",
    "trigger": "user_message",
    "input_messages": [{"role": "user", "content": "Hello?"}],
}
