"""Reading files that people write, and showing places in them."""

import bz2
import gzip
import io
import lzma
import os
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agenteval.contracts.errors import FileError, Problem
from agenteval.reading.documents import MAX_FILE_BYTES, read_text
from agenteval.reading.places import Fault, Place, place_at, pointer, problem_at, problems_at
from agenteval.reading.yamlsource import places


def refusal(path: Path, max_bytes: int = MAX_FILE_BYTES) -> Problem:
    """The only problem that reading the file raises."""
    with pytest.raises(FileError) as caught:
        read_text(path, max_bytes=max_bytes)
    (problem,) = caught.value.problems
    assert problem.path == path
    return problem


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def packed(kind: str) -> bytes:
    """An archive of that kind, or a compressed text."""
    if kind in COMPRESSIONS:
        return COMPRESSIONS[kind](b"{}")
    content = io.BytesIO()
    if kind == "tar":
        with tarfile.open(fileobj=content, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("suite.json"))
    else:
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("suite.json", "{}")
    return content.getvalue()


def test_text_is_read_as_it_stands(tmp_path: Path) -> None:
    """Line ends and characters outside ASCII come through unchanged."""
    path = tmp_path / "a.yaml"
    path.write_bytes("a: é\r\nb: \U0001f600\n".encode())
    assert read_text(path) == "a: é\r\nb: \U0001f600\n"


def test_a_byte_order_mark_of_utf_8_is_dropped(tmp_path: Path) -> None:
    """Editors on Windows write one; it is no part of the text."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_text(path) == "a: 1\n"


def test_a_missing_file(tmp_path: Path) -> None:
    """What is not there is said to be missing."""
    path = tmp_path / "a.yaml"
    problem = refusal(path)
    assert problem.reason_code == "file.missing"
    assert problem.render() == f"{path}: error[file.missing]: no such file"


def test_a_link_to_nothing(tmp_path: Path) -> None:
    """A dangling link is told apart from a name that does not exist."""
    path = tmp_path / "a.yaml"
    path.symlink_to("nowhere")
    problem = refusal(path)
    assert (problem.reason_code, problem.message) == ("file.missing", "a symbolic link to nothing")


def test_a_loop_of_links(tmp_path: Path) -> None:
    """Links that lead to each other cannot be read, and do not hang."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    problem = refusal(tmp_path / "a")
    assert problem.reason_code == "file.unreadable"
    assert problem.message == "the file cannot be read: Too many levels of symbolic links"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    """A NUL or half a character in a name is refused in the same words by every Python."""
    problem = refusal(Path(name))
    assert (problem.reason_code, problem.message) == (
        "file.unreadable",
        "the file cannot be read: no file can have this name",
    )


def test_what_is_not_a_regular_file(tmp_path: Path) -> None:
    """Directories, pipes, sockets and devices are refused before they are opened, so that nothing hangs."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    problems = [refusal(path) for path in (tmp_path, pipe, Path("/dev/zero"))]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        problems.append(refusal(tmp_path / "s"))
    assert {problem.reason_code for problem in problems} == {"file.not_a_file"}
    assert [problem.message for problem in problems] == [
        "a directory, not a file",
        "a named pipe, not a file",
        "a device, not a file",
        "a socket, not a file",
    ]


def test_an_error_while_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the system refuses is told with its reason."""
    path = tmp_path / "a.yaml"
    path.write_text("a: 1")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    problem = refusal(path)
    monkeypatch.undo()
    assert (problem.reason_code, problem.message) == (
        "file.unreadable",
        "the file cannot be read: Permission denied",
    )


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    """A sparse file of 1 TiB is refused by its size, without being read."""
    path = tmp_path / "a.yaml"
    with path.open("wb") as file:
        file.truncate(2**40)
    problem = refusal(path)
    assert problem.reason_code == "file.too_large"
    assert problem.message == "the file has 1,099,511,627,776 bytes; the limit is 67,108,864"
    assert problem.next_step == "make the file smaller, or raise limits.max_file_bytes in agenteval.yaml"


def test_the_limit_itself_is_allowed(tmp_path: Path) -> None:
    """The limit counts bytes, and is inclusive."""
    path = tmp_path / "a.yaml"
    path.write_text("éé")
    assert read_text(path, max_bytes=4) == "éé"
    assert refusal(path, max_bytes=3).message == "the file has 4 bytes; the limit is 3"


@pytest.mark.parametrize("claimed", [0, 3, 30])
def test_a_size_that_is_not_that_of_the_text(
    claimed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changes while it is read, or whose size nobody knows, is read to its end, up to the limit."""
    path = tmp_path / "a.yaml"
    path.write_text("0123456789")
    status = os.stat_result((0o100644, *(0,) * 5, claimed, *(0,) * 3))
    monkeypatch.setattr("agenteval.reading.documents.os.stat", lambda _: status)
    assert read_text(path, max_bytes=30) == "0123456789"
    assert read_text(path, max_bytes=30) == read_text(path, max_bytes=max(10, claimed))
    if claimed < 9:
        with pytest.raises(FileError, match="the file has 10 bytes; the limit is 9"):
            read_text(path, max_bytes=9)


def test_a_file_that_comes_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system may hand out less than was asked for, as Linux does beyond 2 GiB: nothing is lost."""
    path = tmp_path / "a.yaml"
    path.write_text("0123456789")

    class InParts(io.FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(4, size or 0))

    monkeypatch.setattr("builtins.open", lambda path, _mode, **_: InParts(path))
    assert read_text(path) == "0123456789"


def test_a_byte_that_is_not_utf_8(tmp_path: Path) -> None:
    """The place of the first bad byte is shown; the text around it as far as it can be read."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\nb: caf\xe9!\n")
    assert refusal(path).render() == (
        f"{path}:2:7: error[file.encoding]: the byte 0xe9 is not UTF-8\n"
        "   1 | a: 1\n"
        "   2 | b: caf\\xe9!\n"
        "     |       ^\n"
        "   next: save the file in UTF-8"
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_explained(tmp_path: Path, encoding: str) -> None:
    """A file that says it is in UTF-16 is not called broken UTF-8."""
    path = tmp_path / "a.yaml"
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path.write_bytes(mark + "a: 1".encode(encoding))
    problem = refusal(path)
    assert (problem.reason_code, problem.line, problem.column) == ("file.encoding", 1, 1)
    assert problem.message == "the file is in UTF-16; only UTF-8 is supported"


@pytest.mark.parametrize("kind", [*COMPRESSIONS, "tar", "zip"])
def test_a_packed_file(tmp_path: Path, kind: str) -> None:
    """It is called what it is, whatever its name: a remark about its encoding would help nobody."""
    path = tmp_path / "suite.json"
    path.write_bytes(packed(kind))
    problem = refusal(path)
    assert (problem.reason_code, problem.message) == ("file.encoding", f"a packed file ({kind})")
    assert problem.next_step == "unpack it, and name a file in it"


def test_a_nul_byte(tmp_path: Path) -> None:
    """NUL means that this is not a text."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\nb: \0\n")
    problem = refusal(path)
    assert (problem.reason_code, problem.line, problem.column) == ("file.nul_byte", 2, 4)
    assert problem.message == "a NUL byte: this is not a text file"
    assert problem.next_step == "save the file as text in UTF-8"


def shown(place: Place) -> list[str]:
    """The excerpt as a problem shows it, without line numbers."""
    problem = problem_at(place, Fault("c", "m"), Path("p"))
    return [line.partition(" | ")[2] for line in problem.render().split("\n")[1:]]


def test_a_place_shows_two_lines_before() -> None:
    """Line and column count from 1; the caret stands under what is meant."""
    place = place_at("one\ntwo\nthree\nfour\nfive", 15, 3)
    assert (place.line, place.column, place.span) == (4, 2, 3)
    assert place.excerpt == ((2, "two"), (3, "three"), (4, "four"))
    assert shown(place)[-1] == " ^^^"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_editors_have_it(end: str) -> None:
    """Unix, Windows and old Mac line ends count one line each; no other character does."""
    place = place_at(f"a{end}b\u2028c{end}d{end}e", len(f"a{end}b\u2028c{end}"))
    assert (place.line, place.column) == (3, 1)
    assert place.excerpt == ((1, "a"), (2, "b\\u2028c"), (3, "d"))


def test_a_span_ends_with_its_line() -> None:
    """What goes on over lines is underlined on the first."""
    assert place_at("abc\ndef", 1, 5).span == 2


@pytest.mark.parametrize(
    ("text", "offset", "span", "lines"),
    [
        ("\nabc", 0, 1, ["", "^"]),
        ("abc", 3, 1, ["abc", "   ^"]),
        ("\ta\tb", 3, 1, [" a b", "   ^"]),
        ("\x1b[31m\u202ex", 6, 1, ["\\x1b[31m\\u202ex", "              ^"]),
        ("日本: 中x", 4, 1, ["日本: 中x", "      ^^"]),
        ("日本: 中x", 4, 2, ["日本: 中x", "      ^^^"]),
        ("e\u0301: x", 4, 1, ["e\u0301: x", "   ^"]),
        ("x" * 100, 99, 1, ["x" * 100, " " * 99 + "^"]),
        ("x" * 101, 100, 1, ["…" + "x" * 51, " " * 51 + "^"]),
        ("a" + "x" * 500, 1, 500, ["a" + "x" * 99 + "…", " " + "^" * 99]),
    ],
)
def test_the_caret_stands_under_what_is_meant(text: str, offset: int, span: int, lines: list[str]) -> None:
    """On a blank line, at the end of a file, behind tabs, wide signs and signs that a terminal obeys, in a long line."""
    assert shown(place_at(text, offset, span)) == lines


def test_a_long_line_is_cut_around_the_caret() -> None:
    """What is wrong is in sight, wherever it stands, and the lines before are cut alike."""
    text = "short\n \n" + "x" * 300 + "BAD" + "y" * 300
    place = place_at(text, 308, 3)
    first, blank, second, caret = shown(place)
    assert (first, blank) == ("…", "")  # nothing is cut from a blank line
    assert second == "…" + "x" * 50 + "BAD" + "y" * 47 + "…"
    assert caret == " " * 51 + "^^^"
    assert place.column == 301


def test_a_pointer_escapes_what_rfc_6901_says() -> None:
    """A slash and a tilde inside a key are no steps."""
    assert pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"
    assert pointer(()) == ""


def test_a_problem_with_a_suggestion_and_names() -> None:
    """The shape of every located problem: location, message, excerpt, caret with hint, names, next step."""
    text = "params:\n  tool: web_search\n  min_cals: 2\n"
    fault = Fault(
        code="spec.unknown_parameter",
        message="must_call_tool has no parameter 'min_cals'",
        data_path=("params", "min_cals"),
        suggestion="min_calls",
        allowed=["tool", "min_calls", "args"],
        next_step="correct it",
    )
    problem = problem_at(place_at(text, 29, 8), fault, Path("a/test.yaml"))
    assert problem.pointer == "/params/min_cals"
    assert problem.render() == (
        "a/test.yaml:3:3: error[spec.unknown_parameter]: must_call_tool has no parameter 'min_cals'\n"
        "   1 | params:\n"
        "   2 |   tool: web_search\n"
        "   3 |   min_cals: 2\n"
        "     |   ^^^^^^^^ did you mean 'min_calls'?\n"
        "   allowed: tool, min_calls, args\n"
        "   next: correct it"
    )


def test_a_problem_without_a_place_shows_its_hint() -> None:
    """The suggestion is not lost when there is no caret to put it behind."""
    problem = problem_at(None, Fault("c", "m", suggestion="x"), Path("p"))
    assert problem.render() == "p: error[c]: m\n   did you mean 'x'?"


def test_problems_come_in_order_of_line() -> None:
    """However they were found."""
    faults = [Fault(code="c", message=key, data_path=(key,)) for key in ("b", "c", "a")]
    problems = problems_at(faults, text="a: 1\nb: 2\nc: 3\n", places=places, path=Path("p"))
    assert [(problem.line, problem.message) for problem in problems] == [(1, "a"), (2, "b"), (3, "c")]


def test_very_many_problems_are_cut() -> None:
    """A file that is wrong throughout is not told of line by line to the end."""
    text = "".join(f"k{n}: 1\n" for n in range(150))
    faults = [Fault(code="c", message="m", data_path=(f"k{n}",)) for n in range(150)]
    problems = problems_at(faults, text=text, places=places, path=Path("p"))
    assert len(problems) == 101
    assert problems[-1].render() == (
        "p: error[file.many_problems]: there are more problems; the first 100 are shown"
    )
