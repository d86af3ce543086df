"""A terminal: how wide it is, when there is colour, what it is safe from."""

import json
import os
from io import StringIO

import pytest

from agenteval.reporters.terminal import Part, Terminal, write_json
from screen import Screen


@pytest.mark.parametrize(
    ("color", "terminal", "environment", "colored"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {}, True),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
    ],
)
def test_when_there_is_colour(
    color: str, terminal: bool, environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Colour is for terminals; `NO_COLOR` and `--color` decide otherwise."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = Screen(terminal=terminal)
    Terminal(screen, color=color).emit(("x", "green"))
    assert screen.text() == ("\x1b[32mx\x1b[0m\n" if colored else "x\n")


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("200", 200), ("10", 40)])
def test_a_terminal_says_how_wide_it_is(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal's width is used, down to 40; anything else gets 140."""
    monkeypatch.setenv("COLUMNS", columns)
    assert Terminal(Screen(terminal=True)).width == width
    assert Terminal(Screen()).width == 140


def test_gaps() -> None:
    """However often a gap is asked for, it is one empty line; a command between two things is no part of either."""
    screen = Screen()
    terminal = Terminal(screen)
    terminal.gap()
    terminal.emit("one")
    terminal.command("::off::")
    terminal.gap()
    terminal.command("::on::")
    terminal.gap()
    terminal.emit("two")
    assert screen.text() == "one\n::off::\n\n::on::\ntwo\n"


def test_lines_are_made_before_they_are_written() -> None:
    """Who makes lines need not write them: nothing is written until they are told, and then it is the same."""
    screen = Screen()
    terminal = Terminal(screen, color="always")
    lines = terminal.capture(lambda: terminal.emit(("one", "bold"), " two"))
    assert screen.text() == ""
    assert lines == ["\x1b[1mone\x1b[0m two"]
    terminal.replay(lines)
    terminal.emit("three")
    assert screen.text() == "\x1b[1mone\x1b[0m two\nthree\n"


def test_a_clipped_line_ends_where_the_width_does() -> None:
    """What is too long for one line ends in an ellipsis; what fits is left alone."""
    screen = Screen()
    terminal = Terminal(screen)
    terminal.width = 40
    terminal.clipped("x" * 40)
    terminal.clipped("x" * 41)
    assert screen.text() == f"{'x' * 40}\n{'x' * 39}…\n"


def test_a_series_is_broken_between_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal that is too narrow; a log has it on one line, and what just fits stays on it."""
    items: list[Part] = ["12 passed", ("1 xfailed", "yellow"), "26 failed", "18 errors", "2 warnings"]
    for columns, wanted in (
        ("54", "12 passed, 1 xfailed, 26 failed, 18 errors, 2 warnings\n"),
        ("53", "12 passed, 1 xfailed, 26 failed, 18 errors,\n  2 warnings\n"),
        ("40", "12 passed, 1 xfailed, 26 failed,\n  18 errors, 2 warnings\n"),
    ):
        monkeypatch.setenv("COLUMNS", columns)
        screen = Screen(terminal=True)
        Terminal(screen, color="never").series(items)
        assert screen.text() == wanted
    log = Screen()
    Terminal(log).series(["x" * 100, "y" * 100], " in 0.01 s")
    assert log.text() == f"{'x' * 100}, {'y' * 100} in 0.01 s\n"


def test_wide_signs_take_two_cells() -> None:
    """A line of Chinese or emoji is cut and broken where its cells end, not where its characters do."""
    screen = Screen()
    terminal = Terminal(screen)
    terminal.width = 40
    terminal.clipped("天" * 20)
    terminal.clipped("a" + "天" * 20)
    terminal.clipped("天" * 21)
    terminal.paragraph("비가 오니까 우산을 가져가세요 " * 2)
    terminal.paragraph("天" * 21, indent=2)
    assert screen.text() == (
        f"{'天' * 20}\na{'天' * 19}…\n{'天' * 19}…\n"
        "비가 오니까 우산을 가져가세요 비가\n  오니까 우산을 가져가세요\n"
        f"  {'天' * 21}\n"
    )


def test_json_holds_nothing_that_a_terminal_obeys() -> None:
    """U+009B begins a sequence as the escape character does; the data is the same, and letters stay as they are."""
    data = {"k\x9b31m": "é \U0001f600 \x7f\x85\u202e\u200b\u2028\u2066\ufeff\n\x1b"}
    stream = StringIO()
    write_json(stream, data)
    assert stream.getvalue() == (
        '{\n  "k\\u009b31m": "é \U0001f600 \\u007f\\u0085\\u202e\\u200b\\u2028\\u2066\\ufeff\\n\\u001b"\n}\n'
    )
    assert json.loads(stream.getvalue()) == data


def test_a_reader_that_has_gone_is_no_error() -> None:
    """When nobody reads any more (`| head`), writing goes on into nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8", buffering=1)
    terminal = Terminal(stream)
    terminal.emit("nobody reads this")
    terminal.emit("nor this")
    terminal.flush()
    stream.close()
