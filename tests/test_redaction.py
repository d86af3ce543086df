"""Redaction: what is named is hidden, wherever and however it shows up."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.redaction import PIECE, SHORTEST_PIECE, Redactor, plain, token
from agenteval.trace import AdapterInfo

SECRET = "hunter2-Marker-4711"


def redactor(*names: str, learned: Any = None) -> Redactor:
    """A redactor that has seen `learned`."""
    made = Redactor(names)
    made.learn(learned)
    return made


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("token", {"token": SECRET, "user": "x"}, {"token": token(SECRET), "user": "x"}),
        ("token", {"a": {"b": {"token": SECRET}}}, {"a": {"b": {"token": token(SECRET)}}}),
        ("args.token", {"args": {"token": SECRET}}, {"args": {"token": token(SECRET)}}),
        ("args.token", {"data": {"args": {"token": 1}}}, {"data": {"args": {"token": token("1")}}}),
        ("args.token", {"token": 1, "args": {"x": 2}}, {"token": 1, "args": {"x": 2}}),
        ("args.token", {"args": {"x": {"token": 1}}}, {"args": {"x": {"token": 1}}}),
        ("*_key", {"api_key": 1, "key": 2}, {"api_key": token("1"), "key": 2}),
        ("*.password", {"db": {"password": 1}}, {"db": {"password": token("1")}}),
        ("*.password", {"password": 1}, {"password": 1}),
        (
            "users.name",
            {"users": [{"name": 1}, {"name": 2}]},
            {"users": [{"name": token("1")}, {"name": token("2")}]},
        ),
        ("list", {"list": [["a"], {"b": 1}]}, {"list": token('[["a"], {"b": 1}]')}),
        ("user.email", {"user.email": 1}, {"user.email": token("1")}),
        ("gone", {"gone": None, "on": True}, {"gone": token("null"), "on": True}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_named_field_loses_its_value_and_nothing_else_does(name: str, data: Any, expected: Any) -> None:
    """A key at any depth, the end of a dotted path, a glob, a whole list: each is replaced, and only it."""
    assert redactor(name).data(data) == expected


def test_a_token_tells_nothing_but_equality() -> None:
    """Equal values get equal tokens, others others; the token is the stated form."""
    assert token("a") == "[redacted:field:ca978112]"
    hidden = redactor("token").data([{"token": "a"}, {"token": "a"}, {"token": "b"}])
    assert hidden == [{"token": token("a")}, {"token": token("a")}, {"token": token("b")}]
    assert token("a") != token("b")


def test_half_a_surrogate_pair_is_hidden_like_anything_else() -> None:
    """JSON can hold text that is not UTF-8; it has a token too."""
    assert redactor("token").data({"token": "\ud800"}) == {"token": token("\ud800")}


def test_nothing_is_touched_without_names() -> None:
    """Without redacted fields the data is handed back as it is."""
    data = {"token": SECRET}
    assert redactor(learned=data).data(data) is data
    assert redactor(learned=data).text(SECRET) == SECRET


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"got {SECRET}!", f"got {token(SECRET)}!"),
        (f"{SECRET}{SECRET}", token(SECRET) * 2),
        (f"got {SECRET.upper()}", f"got {token(SECRET)}"),
        (f"x{SECRET}y", f"x{token(SECRET)}y"),
        ("got nothing", "got nothing"),
        ("", ""),
        ("abc", "abc"),
    ],
)
def test_a_learned_text_is_found_inside_other_texts(text: str, expected: str) -> None:
    """What was under a redacted field is replaced in messages too, whatever its case there."""
    assert redactor("token", learned={"args": {"token": SECRET}}).text(text) == expected


def test_a_learned_text_is_found_under_other_keys_and_as_a_key() -> None:
    """A value of a redacted field does not show up under another name, as a number or as a key."""
    hide = redactor("pin", "token", learned={"pin": 482913, "token": SECRET})
    assert hide.data({"echo": 482913, "n": 4829, "flag": True}) == {
        "echo": token("482913"),
        "n": 4829,
        "flag": True,
    }
    assert hide.data({SECRET: [SECRET]}) == {token(SECRET): [token(SECRET)]}


def test_short_texts_are_replaced_as_values_only() -> None:
    """A redacted `no` does not blank every `no` of every message."""
    hide = redactor("answer", learned={"answer": "no"})
    assert hide.text("no answer") == "no answer"
    assert hide.data({"answer": "no"}) == {"answer": token("no")}


def test_the_longest_of_several_texts_is_replaced() -> None:
    """No part of a secret is left over when another secret is its beginning."""
    hide = redactor("a", "b", learned={"a": "alpha", "b": "alpha-beta-gamma-delta"})
    assert hide.text("alpha-beta-gamma-delta alpha") == f"{token('alpha-beta-gamma-delta')} {token('alpha')}"
    assert hide.text("alpha-beta-gamma-d") == PIECE


@pytest.mark.parametrize(
    "spell",
    [
        str,
        repr,
        json.dumps,
        lambda text: json.dumps(text, ensure_ascii=False),
        lambda text: " ".join(text.split()),
    ],
    ids=["itself", "python", "json", "json in unicode", "on one line"],
)
def test_other_spellings_are_found(spell: Callable[[str], str]) -> None:
    """A message that shows a value as a Python or JSON string, or on one line, does not give it away."""
    secret = 'pass"wörd\n\tsplit\\here'
    hide = redactor("token", learned={"token": secret})
    assert hide.text(f"got {spell(secret)}.").replace("'", "").replace('"', "") == f"got {token(secret)}."


def test_each_line_of_a_text_is_found() -> None:
    """A message that quotes one line of a redacted text does not give that line away."""
    hide = redactor("memory", learned={"memory": "# Memory\n- the code is 4711-X\n- likes tea"})
    assert "4711" not in hide.text("closest line: - the code is 4711-X")
    hide = redactor("memory", learned={"memory": "code:\nhunter2\n"})
    assert hide.text("line 2: hunter2") == f"line 2: {token(chr(10).join(('code:', 'hunter2', '')))}"


def test_a_text_that_a_message_cut_is_found() -> None:
    """Assertions cut what they quote: the beginning of a redacted text that is left is replaced as well."""
    secret = "MARKER-" + "0123456789" * 30
    hide = redactor("content", learned={"content": secret})
    assert hide.text(f'got "{secret[:120]} …"') == f'got "{PIECE} …"'
    assert hide.text(f'got "{secret[:9]} …"') == f'got "{PIECE} …"'
    assert hide.text(f'got "{secret[:9]}"') == 'got "MARKER-01"'
    assert hide.text(secret[50 : 50 + SHORTEST_PIECE]) == PIECE


def test_json_inside_a_text_is_read() -> None:
    """Tools answer with JSON as text: a redacted field in there is learned, and replaced."""
    answer = json.dumps({"access": {"token": SECRET}, "user": "ann"})
    hide = redactor("token", learned={"result": answer})
    assert hide.data({"result": answer}) == {"result": answer.replace(SECRET, token(SECRET))}
    assert redactor("token", learned={"result": "[not json"}).data({"a": 1}) == {"a": 1}
    assert redactor("token", learned={"result": "[" * 100_000}).data({"a": 1}) == {"a": 1}


def test_models_and_dataclasses_become_plain_data() -> None:
    """`plain` opens dataclasses at any depth and keeps everything else."""
    info = AdapterInfo(name="a", version="1")
    assert plain({"x": [info], "y": 1}) == {"x": [{"name": "a", "version": "1"}], "y": 1}


values = st.recursive(
    st.text() | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(data=values, secret=st.text(min_size=4, max_size=60), around=st.text(max_size=20))
def test_no_secret_survives_anywhere(data: Any, secret: str, around: str) -> None:
    """Whatever the data and the secret, neither data nor text holds the secret afterwards."""
    if len(secret.strip()) < 4 or secret in json.dumps(token(secret)):
        return
    made = redactor("secret", learned={"secret": secret})
    hidden = made.data({"secret": secret, "rest": [data, f"{around}{secret}{around}"]})
    assert secret not in str(hidden["secret"])
    assert secret not in hidden["rest"][1]
    assert secret not in made.text(f"{around}{secret}")
