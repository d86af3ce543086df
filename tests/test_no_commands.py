"""A log of GitHub Actions: no line is a workflow command, whoever writes it, and in whatever pieces."""

import io
import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actions import commands
from agenteval.reporters.terminal import NoCommands, write

PIECES = st.lists(
    st.sampled_from(
        [
            "::",
            ":",
            "##[",
            "#",
            "[",
            "]",
            "error",
            " ",
            "\t",
            "\n",
            "\r",
            "\u200b",
            "\xa0",
            "\ufe0f",
            "x",
            "é",
            "\x1b[31m",
        ]
    )
    | st.text(max_size=3),
    max_size=30,
)


def written(pieces: list[str]) -> str:
    """What a stream gets that is written in pieces."""
    stream = io.StringIO(newline="")
    guarded = NoCommands(stream)
    for piece in pieces:
        guarded.write(piece)
    return stream.getvalue()


@given(PIECES)
def test_no_line_is_a_command(pieces: list[str]) -> None:
    """However a text is cut; and all of it is there."""
    told = written(pieces)
    assert commands(told) == []
    assert told == written(["".join(pieces)])
    assert told.replace("\\u003a", ":").replace("\\u005b", "[") == "".join(pieces).replace(
        "\\u003a", ":"
    ).replace("\\u005b", "[")


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_says_the_same(data: object) -> None:
    """Programs that read it are not bothered."""
    assert json.loads(written([json.dumps(data, indent=2, ensure_ascii=False)])) == data


@pytest.mark.parametrize(
    "line",
    [
        "FAIL nanoclaw.a.b.c  tests/a/test.yaml",
        "tests/a.yaml:3:1: error[x]: y",
        "a::b [##] # [x]",
        "- [ ] ## x",
        "http://x",
        "  ✓ a: b",
    ],
)
def test_what_is_none_stays_as_it_is(line: str) -> None:
    """Ordinary lines are not touched."""
    assert written([line + "\n"]) == line + "\n"


def test_a_line_that_is_written_again() -> None:
    """A stream of few characters gets a line twice, the second time with escapes: it begins anew."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    guarded = cast("io.TextIOWrapper", NoCommands(stream))
    write(guarded, "::error::é")
    stream.seek(0)
    assert stream.read() == "\\u003a:error::\\xe9"


def test_it_is_told_apart_from_a_stream_of_bytes() -> None:
    """Libraries try an empty piece."""
    with pytest.raises(TypeError):
        NoCommands(io.StringIO()).write(cast("str", b""))
