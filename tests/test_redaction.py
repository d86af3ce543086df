"""Redaction: what is named is hidden, wherever and however it shows up."""

import json
import re
import time
from base64 import b64encode
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agenteval.contracts.errors import Problem
from agenteval.contracts.models import plain
from agenteval.contracts.trace import AdapterInfo
from agenteval.redaction.occurrences import PIECE, SHORTEST_PIECE, KnownValues, token
from agenteval.redaction.redactor import RedactionRules, Redactor
from planted import AWS, PLANTED

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
        ("args.pin", {"data": {"args": {"pin": 1}}}, {"data": {"args": {"pin": token("1")}}}),
        ("args.pin", {"pin": 1, "args": {"x": 2}}, {"pin": 1, "args": {"x": 2}}),
        ("args.pin", {"args": {"x": {"pin": 1}}}, {"args": {"x": {"pin": 1}}}),
        ("*_key", {"api_key": 1, "key": 2}, {"api_key": token("1"), "key": 2}),
        ("*.pin", {"db": {"pin": 1}}, {"db": {"pin": token("1")}}),
        ("*.pin", {"pin": 1}, {"pin": 1}),
        (
            "users.name",
            {"users": [{"name": 1}, {"name": 2}]},
            {"users": [{"name": token("1")}, {"name": token("2")}]},
        ),
        ("list", {"list": [["a"], {"b": 1}]}, {"list": token('[["a"], {"b": 1}]')}),
        ("user.email", {"user.email": 1}, {"user.email": token("1")}),
        ("map", {"map": {"b": 1, "a": 2}}, {"map": token('{"a": 2, "b": 1}')}),
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


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("calls.token", [True, True]),
        ("calls.*.token", [True, True]),
        ("calls.1.token", [False, True]),
        ("calls.*.*.token", [False, False]),
        ("calls.*.0", [False, False]),
        ("*.*.token", [True, True]),
        ("1", [False, False]),
    ],
)
def test_a_name_may_have_the_place_in_a_list(name: str, hidden: list[bool]) -> None:
    """A place may be left out of a path, given, or be whatever it is."""
    words = ("first one", "second one")
    data = {"calls": [{"token": word} for word in words]}
    hide = redactor(name, learned=data)
    assert [
        each["token"] == token(word) for each, word in zip(hide.data(data)["calls"], words, strict=True)
    ] == hidden
    assert [hide.text(word) == token(word) for word in words] == hidden


def test_a_name_of_many_globs_takes_no_time() -> None:
    """Lists in lists, and a name that may match in more ways than can be tried one by one."""
    data: Any = "end"
    for _ in range(60):
        data = [data]
    assert redactor(".".join(["x", *["*"] * 30])).data({"y": data}) == {"y": data}


def test_half_a_surrogate_pair_is_hidden_like_anything_else() -> None:
    """JSON can hold text that is not UTF-8; it has a token too."""
    assert redactor("token").data({"token": "\ud800"}) == {"token": token("\ud800")}


@pytest.mark.parametrize("value", [None, True])
def test_what_is_no_text_and_no_number_stays(value: Any) -> None:
    """Though Python would write it as a text that is hidden."""
    assert redactor("token", learned={"token": str(value)}).data({"on": value}) == {"on": value}


def test_a_secret_that_is_no_text_is_no_reason_to_crash() -> None:
    """A list of variables may have numbers, and nothing."""
    data = [{"name": "DB_PASSWORD", "value": value} for value in (4711, None)]
    hidden = [{"name": "DB_PASSWORD", "value": value} for value in (token("4711", "credential"), None)]
    assert Redactor().redact_values(data) == redactor(learned=data).data(data) == hidden


@pytest.mark.parametrize("key", ["password", "pin_secret", "api_key", "accessToken"])
def test_a_number_is_a_credential_under_its_name(key: str) -> None:
    """By itself, in a list and as the value of a variable; a long one is hidden in texts and elsewhere, too."""
    data = {
        key: 83746152,
        "list": {key: [99887766, 12.5]},
        "env": [{"name": key, "value": 4711}],
        "x": 83746152,
    }
    long, other, half = (token(number, "credential") for number in ("83746152", "99887766", "12.5"))
    made = redactor(learned=data)
    hidden = made.data(data)
    assert (hidden[key], hidden["list"], hidden["x"]) == (long, {key: [other, half]}, long)
    assert made.text("got 83746152, then [99887766]") == f"got {long}, then [{other}]"
    assert hidden["env"][0]["value"] == (token("4711", "credential") if key == "password" else 4711)
    assert Redactor().redact_values(data) == {**hidden, "x": 83746152}
    assert redactor().leaks(data, ()) == ["credential"]
    assert made.leaks(hidden, hidden) == []


def test_a_short_number_is_hidden_under_its_name_only() -> None:
    """Unless it is a password: a count may be equal to it."""
    data = {"api_key": 5566778, "password": 4711, "calls": 5566778}
    made = redactor(learned=data)
    assert made.data(data) == {
        "api_key": token("5566778", "credential"),
        "password": token("4711", "credential"),
        "calls": 5566778,
    }
    assert made.text("5566778 calls, 4711") == f"5566778 calls, {token('4711', 'credential')}"


def test_counts_and_flags_are_no_credentials() -> None:
    """Tokens are counted in every recording; whether there is a password is no password."""
    counts = {
        "max_tokens": 40960000,
        "tokens": 812,
        "token_usage": {"input_tokens": 12, "output_tokens": 34},
        "password": True,
        "secret": None,
    }
    learned = [counts, {"password": "hunter2"}]
    assert redactor(learned=learned).data(counts) == Redactor().redact_values(counts) == counts
    assert redactor(learned=learned).leaks(counts, counts) == []


def test_nothing_is_touched_without_names() -> None:
    """Without redacted fields, and without secrets, the data is handed back as it is."""
    data = {"word": SECRET}
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
    assert hide.text("no answer is a no") == "no answer is a no"
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
        lambda text: re.sub("[^a-z0-9]+", "_", text),
        lambda text: text.replace("'", "''"),
    ],
    ids=["itself", "python", "json", "json in unicode", "on one line", "name", "yaml"],
)
def test_other_spellings_are_found(spell: Callable[[str], str]) -> None:
    """A message that shows a value as a Python or JSON string, or on one line, does not give it away."""
    secret = 'pass"wörd\n\tsplit\\here'
    hide = redactor("token", learned={"token": secret})
    assert hide.text(f"got {spell(secret)}.").replace("'", "").replace('"', "") == f"got {token(secret)}."


@pytest.mark.parametrize(
    "spell",
    [
        quote,
        quote_plus,
        lambda text: quote(text, safe="").lower(),
        escape,
        lambda text: escape(text, quote=False),
        lambda text: b64encode(text.encode()).decode(),
    ],
)
@pytest.mark.parametrize("value", ["Kiel & Bremen <4711>", 'it\'s "ä" / 4711', "a/b?c=d e"])
def test_encodings_are_found(spell: Callable[[str], str], value: str) -> None:
    """A recording that has the value in an address, a form, a page or in base64 does not give it away."""
    shown = redactor("pin", learned={"pin": value}).text(f"x={spell(value)}&y=1")
    assert shown.replace("=", "") == f"x{token(value)}&y1"


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
    for place in range(16):
        before = "-" * place
        assert hide.text(before + secret[50:66] + "!") == f"{before}{PIECE}!"
        assert hide.text(before + secret[50:65] + "!") == before + secret[50:65] + "!"


def test_json_inside_a_text_is_read() -> None:
    """Tools answer with JSON as text: a redacted field in there is learned, and replaced."""
    answer = json.dumps({"access": {"token": SECRET}, "user": "ann"})
    hide = redactor("token", learned={"result": answer})
    assert hide.data({"result": answer}) == {"result": answer.replace(SECRET, token(SECRET))}
    rows = f'\n [{{"token": "{SECRET}"}}]'
    assert redactor("token", learned={"result": rows}).text(f"got {SECRET}") == f"got {token(SECRET)}"
    assert redactor("token", learned={"result": "[not json"}).data({"a": 1}) == {"a": 1}
    assert redactor("token", learned={"result": "[" * 100_000}).data({"a": 1}) == {"a": 1}
    deep = f'{"[" * 900}{{"token": "{SECRET}"}}{"]" * 900}'
    assert redactor("token", learned={"result": deep}).data(deep) == deep.replace(SECRET, token(SECRET))


@pytest.mark.parametrize("secret", ["hunter2-4711", "let me in"])
@pytest.mark.parametrize("option", ["--password", "-password", "--db-password", "--API_KEY"])
def test_an_argument_is_hidden_behind_its_option(option: str, secret: str) -> None:
    """A list of arguments names its items: learned, swept, and told of as a leak."""
    args = ["mysql", option, secret, "shop"]
    redactor = Redactor()
    redactor.learn({"args": args})
    hidden = ["mysql", option, token(secret, "credential"), "shop"]
    assert redactor.data({"args": args}) == {"args": hidden}
    assert redactor.text(f"could not log in with {secret}!") == f"could not log in with {hidden[2]}!"
    assert Redactor().redact_values(args) == hidden
    assert Redactor().leaks(args, ()) == ["credential"]
    assert Redactor().leaks(hidden, ()) == []


@pytest.mark.parametrize(
    "args",
    [
        ["mysql", "--password", "--user", "bob"],
        ["pg_dump", "--no-password", "shop"],
        ["- what to do with the password", "forget it"],
        ["the password", "is asked for"],
        ["--password-file", "/run/password"],
        ["--password", ""],
        ["--password"],
    ],
)
def test_other_arguments_stay(args: list[str]) -> None:
    """What follows no option for a secret, or is the next option."""
    redactor = Redactor()
    redactor.learn(args)
    assert redactor.data(args) == Redactor().redact_values(args) == args


@pytest.mark.parametrize("label", ["name", "key"])
def test_the_value_of_a_named_variable_is_learned(label: str) -> None:
    """As containers and services list their settings: the name of a secret stands beside its value."""
    settings = {"env": [{label: "PORT", "value": "8080"}, {"value": "hunter2", label: "DB_PASSWORD"}]}
    hide = redactor(learned=settings)
    assert hide.text("got hunter2 at 8080") == f"got {token('hunter2', 'credential')} at 8080"
    assert hide.data(settings)["env"][1]["value"] == token("hunter2", "credential")
    everyday = {label: "API_TOKEN", "value": "cats"}
    assert redactor(learned=everyday).data(everyday) == everyday
    assert redactor(learned=everyday).leaks(everyday, everyday) == []


def attribute(key: str, **value: Any) -> dict[str, Any]:
    """An attribute of a span, as OTLP has it in JSON."""
    return {"key": key, "value": value}


@pytest.mark.parametrize(
    "value",
    [
        lambda text: {"stringValue": text},
        lambda text: {"arrayValue": {"values": [{"stringValue": text}]}},
        lambda text: {"kvlistValue": {"values": [attribute("db_password", stringValue=text)]}},
    ],
    ids=["text", "list", "mapping"],
)
@pytest.mark.parametrize("secret", ["hunter2-4711", "cats"])
def test_a_value_that_otlp_wraps_is_hidden_under_its_name(
    value: Callable[[str], dict[str, Any]], secret: str
) -> None:
    """A text, a list and a mapping; what is named otherwise stays, and so does what only looks wrapped."""
    span = {
        "attributes": [
            attribute("http.header.authorization", **value(secret)),
            attribute("city", stringValue="cats or dogs"),
        ]
    }
    hidden = json.loads(json.dumps(span).replace(secret, token(secret, "credential"), 1))
    assert redactor(learned=span).data(span)["attributes"][0] == hidden["attributes"][0]
    assert Redactor().redact_values(span) == hidden
    assert redactor().leaks(span, ()) == ["credential"]
    assert redactor().leaks(hidden, ()) == []
    if secret != "cats":
        assert redactor().redacted(json.dumps(span)) == json.dumps(hidden)
        assert redactor().redacted(json.dumps(json.dumps(span))) == json.dumps(json.dumps(hidden))


@pytest.mark.parametrize(
    "data",
    [
        attribute("gen_ai.usage.input_tokens", intValue="4096"),
        attribute("password", stringValue="${PASSWORD}"),
        attribute("api_key", kvlistValue={"values": [attribute("owner", stringValue="the whole team")]}),
        {"password": {"stringValue": None, "hint": "cats"}},
        {"stringValue": "cats", "arrayValue": {"values": ["dogs"]}},
    ],
    ids=["count", "variable", "other names", "not wrapped", "no name"],
)
def test_what_else_otlp_wraps_stays(data: Any) -> None:
    """Counts, variables, and what only stands near the name of a secret."""
    assert redactor(learned=[data, {"password": "hunter2"}]).data(data) == data
    assert Redactor().redact_values(data) == data


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ({"pin": "123", "a": "b"}, {"pin": token("123"), "a": "b"}),
        ([{"pin": 77}], [{"pin": token("77")}]),
        ({"pin": True}, {"pin": token("true")}),
        ({"pin": ["1", {"b": False}]}, {"pin": token('["1", {"b": false}]')}),
        ({"a": json.dumps({"pin": 7})}, {"a": json.dumps({"pin": token("7")})}),
    ],
)
def test_json_inside_a_text_loses_short_values_too(held: Any, shown: Any) -> None:
    """They are too short to be replaced as words, and stand in a field that is redacted all the same."""
    text = json.dumps(held)
    assert redactor("pin", learned={"result": text}).data({"result": text}) == {"result": json.dumps(shown)}


@pytest.mark.parametrize("text", ['{"pin":"hunter2-Marker"}', '{"n":  1}'])
def test_json_inside_a_text_keeps_its_form(text: str) -> None:
    """It is written anew only when something would be left."""
    hidden = text.replace("hunter2-Marker", token("hunter2-Marker"))
    assert redactor("pin", learned={"result": text}).data({"result": text}) == {"result": hidden}


def test_data_that_is_no_json_is_looked_through_too() -> None:
    """A number of more than 64 bits, a key that is no text, half a surrogate pair: beside each a secret is learned."""
    key = PLANTED["aws-access-key"]
    for odd in ({"n": 2**70, "note": key}, {1: key}, {"note": "\ud800 " + key}, "\ud800 " + key):
        assert redactor(learned=odd).text(f"got {key}") == f"got {token(key, 'aws-access-key')}"
    assert redactor().redacted("\ud800 " + key) == "\ud800 " + token(key, "aws-access-key")


def test_what_nobody_has_learned_is_swept_out_of_data() -> None:
    """Secrets in texts and keys, values of keys that name one at any depth, and values of the run; tokens stay."""
    key, env = PLANTED["aws-access-key"], "open sesame"
    hidden = token(key, "aws-access-key")
    made = Redactor(rules=RedactionRules(values=[env]))
    assert made.redact_values(
        {key: [f"it is {key}", None, 5, {"password": ["x9-quite-secret", hidden]}], 7: (f"say {env}", hidden)}
    ) == {
        hidden: [f"it is {hidden}", None, 5, {"password": [token("x9-quite-secret", "credential"), hidden]}],
        "7": [f"say {token(env, 'env')}", hidden],
    }


def test_what_cannot_hold_anything_sensitive_is_known() -> None:
    """Only where nothing was learned and nothing looks like it: then data is written as it is."""
    plain_data, mail = {"a": "nothing"}, PLANTED["email"]
    assert not redactor().may_show_in(plain_data)
    assert not redactor().may_show_in(b'{"a": "nothing"}')
    assert not Redactor(rules=RedactionRules(["secrets"])).may_show_in(mail)
    assert redactor().may_show_in({"a": mail})
    assert redactor().may_show_in(mail.encode())
    for names, learned in (([], mail), ([], {"password": "no"}), (["word"], {"word": "cats"})):
        assert redactor(*names, learned=learned).may_show_in(plain_data)


def test_secrets_of_files_that_are_excerpted_are_learned(tmp_path: Path) -> None:
    """Whatever their encoding; a file that is gone, and a problem without a file or an excerpt, are passed by."""
    first, other = PLANTED["aws-access-key"], PLANTED["github-token"]
    (tmp_path / "a.yaml").write_bytes(b"note: \xe4 " + first.encode())
    (tmp_path / "b.yaml").write_text(f"note: {other}")
    hide = redactor()
    hide.learn_files(
        Problem(reason_code="wrong", message="bad", path=path, excerpt=excerpt)
        for path, excerpt in (
            (None, [(1, "x")]),
            *((tmp_path / f"gone{place}", [(1, "x")]) for place in range(9)),
            (tmp_path / "a.yaml", [(1, "note: …")]),
            (tmp_path / "b.yaml", []),
        )
    )
    assert hide.text(first) == token(first, "aws-access-key")
    assert hide.text(other) == other


GITHUB = PLANTED["github-token"]
CLOTHES: list[Callable[[str], str]] = [
    "\u200b".join,
    lambda text: f"{text[:9]}\u00ad{text[9:]}",
    lambda text: f"{text[:9]}\\u200b{text[9:]}",
    lambda text: f"{text[:9]}\\\\uFEFF{text[9:]}",
    lambda text: f"{text[:9]}&#8203;{text[9:]}",
    lambda text: f"{text[:9]}\x1b[1m{text[9:]}\x1b[0m",
    lambda text: "".join(f"%{ord(sign):02x}" for sign in text),
    lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    lambda text: text.replace("_", "\\_"),
    lambda text: b64encode(f"user:{text}".encode()).decode(),
    lambda text: b64encode(f"it is {text}, no?".encode()).decode(),
    lambda text: b64encode(json.dumps({"a": text}).encode()).decode(),
    lambda text: b64encode(f"~?>~?>{text}~?>".encode()).decode(),
]


@pytest.mark.parametrize("dress", CLOTHES)
@pytest.mark.parametrize("value", ["hunter2_Marker_4711", "it's a phrase: 4711"])
def test_a_known_value_is_found_in_other_clothes(dress: Callable[[str], str], value: str) -> None:
    """As a part of what a row of base64 encodes, too; with the token that it has elsewhere, if it is seen as a whole."""
    made = redactor("memo", learned={"memo": value})
    dressed = dress(value)
    shown = made.text(f"so {dressed} is it")
    assert re.fullmatch(r"so \[redacted:field:[0-9a-f]{8}\](?:\x1b\[0m)? is it", shown)
    assert token(value) in shown
    assert made.leaks([dressed], [dressed]) == ["field"]
    assert made.leaks([shown], [shown]) == []


@given(
    value=st.from_regex("[a-zA-Z0-9][a-zA-Z0-9!#$()*,./:;?@^_{}~-]{10,60}[a-zA-Z0-9]", fullmatch=True),
    dress=st.sampled_from(CLOTHES),
    before=st.text(max_size=20),
    after=st.text(max_size=20),
)
def test_no_clothes_hide_a_value(value: str, dress: Callable[[str], str], before: str, after: str) -> None:
    """Whatever the value and the text around it, nothing of its writing is left."""
    dressed = dress(value)
    if dressed in before + after or dressed.lower() in token(value):
        return
    made = redactor("memo", learned={"memo": value})
    shown = made.text(f"{before} {dressed} {after}")
    assert dressed not in shown
    assert value not in shown


def test_equal_keys_have_equal_tokens_in_any_clothes() -> None:
    """So that a reader can tell that it is the same one."""
    for dress in CLOTHES:
        text = f"so {dress(GITHUB)} is it"
        assert token(GITHUB, "github-token") in redactor().redacted(text)
        assert token(GITHUB, "github-token") in redactor(learned=text).text(text)


def test_a_login_is_hidden_where_docker_keeps_it() -> None:
    """Under `auth`, in base64; another value of that name is none."""
    login = b64encode(b"bob:hunter-2").decode()
    config = {"auths": {"registry.example": {"auth": login}}, "auth": "oauth2"}
    hidden = {"auths": {"registry.example": {"auth": token(login, "credential")}}, "auth": "oauth2"}
    assert redactor(learned=config).data(config) == Redactor().redact_values(config) == hidden
    assert redactor().leaks(config, ()) == ["credential"]


MEMO = "it's-4711-Kiel"
HIDDEN = token(MEMO)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("memo: 'it''s-4711-Kiel'", f"memo: '{HIDDEN}'"),
        ('memo: "it\'s-47\\x311-\\u004Biel"', f'memo: "{HIDDEN}"'),
        ("other: 'so it''s-4711-Kiel'", f"other: 'so {HIDDEN}'"),
        (f'other: "{AWS[:-1]}\\x{ord(AWS[-1]):x}"', f'other: "{token(AWS, "aws-access-key")}"'),
        ('other: "nothing\\tthat is \\x73ecret"', 'other: "nothing\\tthat is \\x73ecret"'),
        ("other: 'isn''t secret'", "other: 'isn''t secret'"),
    ],
)
@pytest.mark.parametrize("before", ["", "\ufeff", "# wörd 🙂\n"], ids=["", "mark", "wide"])
def test_a_file_may_write_a_value_with_escapes(tmp_path: Path, before: str, line: str, shown: str) -> None:
    """A value is hidden as the file writes it."""
    path = tmp_path / "a.yaml"
    path.write_text(f"{before}{line}\n", encoding="utf-8")
    hide = redactor("memo", learned={"memo": MEMO})
    hide.learn_files([Problem(reason_code="wrong", message="bad", path=path, excerpt=[(4, "x")])])
    assert hide.redacted(line) == shown


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


@pytest.mark.parametrize(("kind", "value"), PLANTED.items(), ids=list(PLANTED))
def test_secrets_and_addresses_are_redacted_without_being_named(kind: str, value: str) -> None:
    """In data, as a piece of a text, as a key, and in a message that quotes them: one token for all."""
    data = (
        {"note": f"it is {value}!", "password": value}
        if kind == "credential"
        else {"note": f"it is {value}!"}
    )
    hide = redactor(learned=data)
    assert hide.data(data)["note"] == f"it is {token(value, kind)}!"
    assert hide.data({value: [value]}) == {token(value, kind): [token(value, kind)]}
    assert (
        hide.text(f"got {value!r}, then {value.upper()}")
        == f"got '{token(value, kind)}', then {token(value, kind)}"
    )
    assert set(hide.data(data).values()) <= {f"it is {token(value, kind)}!", token(value, kind)}


@pytest.mark.parametrize(("kind", "value"), PLANTED.items(), ids=list(PLANTED))
def test_what_nobody_learned_of_is_found_in_a_text(kind: str, value: str) -> None:
    """Messages from elsewhere are looked through when they are redacted."""
    text = f'error at "password": "{value}"' if kind == "credential" else f"error at {value}, sorry"
    assert redactor().redacted(text) == text.replace(value, token(value, kind))
    assert redactor().redacted(redactor().redacted(text)) == text.replace(value, token(value, kind))


def test_kinds_can_be_turned_off() -> None:
    """Without `email` addresses stay, without `secrets` keys and passwords do."""
    data = {"mail": PLANTED["email"], "key": PLANTED["aws-access-key"], "password": PLANTED["credential"]}
    for kinds, hidden in ((["email"], {"mail"}), (["secrets"], {"key", "password"}), ([], set())):
        made = Redactor(rules=RedactionRules(kinds))
        made.learn(data)
        assert {key for key, value in made.data(data).items() if value != data[key]} == hidden
        assert (made.redacted(PLANTED["email"]) == PLANTED["email"]) == ("email" not in kinds)


def test_values_of_the_environment_are_known_from_the_start() -> None:
    """They are redacted everywhere, by a kind of their own, which goes before that of their form."""
    made = Redactor(rules=RedactionRules(values=["open sesame", PLANTED["aws-access-key"]]))
    made.learn({"key": PLANTED["aws-access-key"]})
    assert made.redacted("say Open Sesame") == f"say {token('open sesame', 'env')}"
    assert made.data({"x": PLANTED["aws-access-key"]}) == {"x": token(PLANTED["aws-access-key"], "env")}
    assert made.name("open sesame") == token("open sesame", "env")
    assert made.data({"password": PLANTED["aws-access-key"]}) == {
        "password": token(PLANTED["aws-access-key"], "env")
    }
    assert not Redactor().rules.known


def test_pieces_of_values_of_the_environment_are_known_too() -> None:
    """And what is learned for one test stays with it: the next one, under the same rules, knows the values alone."""
    rules = RedactionRules(values=["the-long-value-of-a-variable"])
    learning, next_one = Redactor(rules=rules), Redactor(rules=rules)
    learning.learn({"password": "the-quite-other-password-of-a-test"})
    assert learning.text("got -quite-other-password-of… and …-test") == f"got {PIECE}… and …{PIECE}"
    for made in (learning, next_one):
        assert made.text("got -long-value-of-a… and …iable") == f"got {PIECE}… and …{PIECE}"
    assert next_one.text("-quite-other-password-of, …-test") == "-quite-other-password-of, …-test"


def test_a_value_has_one_token_however_it_was_found() -> None:
    """Under a redacted field, beside `password`, and by its form; the form says most."""
    value, other = PLANTED["aws-access-key"], "let me in please"
    hide = redactor("field", learned={"field": value, "password": value, "text": value})
    assert set(hide.data({"field": value, "password": value, "x": value}).values()) == {
        token(value, "aws-access-key")
    }
    hide = redactor("field", learned={"field": other, "password": other, "text": f'"password": "{other}"'})
    assert set(hide.data({"field": other, "password": other, "x": other}).values()) == {token(other)}


def test_an_everyday_word_is_hidden_under_its_name_only() -> None:
    """`token: cats` does not blank every cat."""
    hide = redactor(learned={"token": "cats", "password": "kittens"})
    shown = hide.data({"token": "cats", "password": "kittens", "x": "cats and kittens"})
    cats, kittens = token("cats", "credential"), token("kittens", "credential")
    assert shown == {"token": cats, "password": kittens, "x": f"cats and {kittens}"}
    assert redactor(learned={"token": "cats"}).data({"token": "cats"}) == {"token": cats}


def test_a_password_in_a_text_is_hidden_wherever_it_stands() -> None:
    """Also where no name stands beside it; and as a number."""
    hide = redactor(learned={"note": "password: 471112"})
    hidden = token("471112", "credential")
    assert hide.text("try 471112") == f"try {hidden}"
    assert hide.data({"pin": 471112}) == {"pin": hidden}


def test_ids_keep_words_of_redacted_fields_but_no_secrets() -> None:
    """Otherwise results could not be told apart."""
    hide = redactor("word", learned={"word": "cats", "x": PLANTED["aws-access-key"]})
    key = PLANTED["aws-access-key"]
    assert hide.name(f"about.cats.{key}") == f"about.cats.{token(key, 'aws-access-key')}"


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("hi\\n", "tom", ""),
        ("hi\\t", "tom", ""),
        ("to ", "tom", ""),
        ("C:\\x\\", "ann", ""),
        ("", "tom", " in C:\\"),
        ("[redacted:part]", "ann", "[redacted:part]"),
    ],
)
def test_an_address_is_hidden_whole_and_nothing_else_is(before: str, name: str, after: str) -> None:
    """The letter of an escape belongs to the text around; any other letter after a backslash is of the address."""
    address = name + "@" + "kiel.example"
    shown = redactor().redacted(before + address + after)
    assert shown == before + token(address, "email") + after


def test_an_address_in_a_secret_belongs_to_the_secret() -> None:
    """One token for both."""
    password = "x9-quite@" + "kiel.example"
    shown = redactor().redacted(f'"password": "{password}"')
    assert shown == f'"password": "{token(password, "credential")}"'


def test_addresses_are_not_redacted_in_pieces() -> None:
    """The domain of a known address may stand in a link."""
    address = "someone@" + "department.university.example"
    hide = redactor(learned=address)
    assert hide.text("https://department.university.example/x") == "https://department.university.example/x"
    assert hide.text(f"write to {address[:9]}… soon") == f"write to {PIECE}… soon"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("…7-end", f"…{PIECE}"),
        ("...secret-7-end!", f"...{PIECE}!"),
        ("…7-endless", f"…{PIECE}less"),
        ("… 7-end", "… 7-end"),
        ("7-end", "7-end"),
        ("…end", "…end"),
    ],
)
def test_the_end_of_a_text_after_an_ellipsis_is_found(text: str, expected: str) -> None:
    """What was cut at its beginning is a piece as well, from four characters on."""
    assert redactor("x", learned={"x": "the-long-secret-7-end"}).text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("say marmalade->>77<<, >>95%<<", f"say {token('marmalade-77')}, 95%"),
        ("say >>marmalade-77<<", f"say >>{token('marmalade-77')}<<"),
        ("say marmalade-77, >>95%<<", f"say {token('marmalade-77')}, >>95%<<"),
        ("…lade->>77<<", f"…{PIECE}"),
        ("only >>77<<", "only >>77<<"),
    ],
)
def test_marks_do_not_hide_a_value(text: str, expected: str) -> None:
    """A message may mark a number in the middle of a value: the value goes, and the marks with it."""
    hide = redactor("x", learned={"x": "marmalade-77"})
    assert hide.text(text) == expected
    assert hide.leaks([text], [text]) == (["field"] if "marmalade" in text else [])


def test_tokens_are_left_alone() -> None:
    """A value that looks like a part of a token does not break one."""
    hide = redactor("x", learned={"x": ["redacted", "credential", "0123", "part"]})
    assert (
        hide.text("[redacted:credential:01234567] redacted [redacted:part]")
        == f"[redacted:credential:01234567] {token('redacted')} [redacted:part]"
    )


@pytest.mark.parametrize("value", ["[redacted:no] 4711", "[redacted:part] 4711", "4711 [redacted:part]"])
def test_a_value_with_a_token_in_it_is_no_token(value: str) -> None:
    """Only what is a token and nothing else is left as it is."""
    assert redactor("pin").data({"pin": value}) == {"pin": token(value)}


def test_a_token_stays_under_a_redacted_field() -> None:
    """What has been redacted is not redacted again: it would no longer be equal to what it was."""
    once = Redactor(["pin"]).data({"pin": "4711 Kiel"})
    assert Redactor(["pin"]).data(once) == once


def test_leaks_are_told_by_kind() -> None:
    """The self-test finds what was learned, what has the form of a secret, and passwords under their name."""
    hide = redactor("word", learned={"word": "marmalade", "password": "x9-quite-secret"})
    assert hide.leaks({"a": hide.data({"word": "marmalade"})}, []) == []
    assert hide.leaks({"a": "x9-QUITE-secret"}, []) == ["credential"]
    assert hide.leaks([PLANTED["github-token"], PLANTED["email"]], []) == ["email", "github-token"]
    assert hide.leaks({"password": "no"}, []) == ["credential"]
    assert hide.leaks({"status": "marmalade"}, ["nothing"]) == []
    assert hide.leaks({}, ["some Marmalade"]) == ["field"]
    assert hide.leaks({"x": token("marmalade")}, [token("marmalade")]) == []


spells: list[Callable[[str], str]] = [
    str,
    repr,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps(json.dumps(text)),
    lambda text: " ".join(text.split()),
    str.upper,
]


@given(
    secret=st.text(alphabet=st.characters(codec="utf-8"), min_size=8, max_size=80),
    before=st.text(max_size=30),
    after=st.text(max_size=30),
    spell=st.sampled_from(spells),
)
def test_no_spelling_of_a_secret_survives(
    secret: str, before: str, after: str, spell: Callable[[str], str]
) -> None:
    """Whatever the secret, the text around it, and the way in which a message spells it."""
    if (
        len(secret.strip()) < 4
        or len(secret.upper()) != len(secret)
        or secret.upper().lower() != secret.lower()
    ):
        return
    spelled = spell(secret.strip())
    core = spelled.strip("'\"")
    if len(core) < 4 or core.lower() in token(secret).lower() or core in before + after:
        return
    shown = redactor("x", learned={"x": secret}).text(f"{before} {spelled} {after}")
    assert core not in shown


def test_a_secret_with_blanks_around_it_is_found_escaped_without_them() -> None:
    """A message may quote it stripped: the tab inside is spelled out, the blank at its end is not there."""
    secret = "00000\t0 "
    shown = redactor("x", learned={"x": secret}).text(f"got {secret.strip()!r}")
    assert shown == f"got '{token(secret)}'"


@example(secret="A0_an000000000000000000AAAAaaa0A0", start=0, size=33, ellipsis="…")
@given(
    secret=st.from_regex("[a-zABC0-9][a-zABC0-9+/_-]{18,118}[a-zABC0-9]", fullmatch=True),
    start=st.integers(0, 119),
    size=st.integers(1, 120),
    ellipsis=st.sampled_from(["…", " …", "..."]),
)
def test_no_cut_leaves_a_piece(secret: str, start: int, size: int, ellipsis: str) -> None:
    """Sixteen characters never stay, wherever a text was cut; nor four at a cut end that an ellipsis marks."""
    piece = secret[start : start + size]
    hide = redactor("x", learned={"x": secret})
    by_chance = [each.kind for each in Redactor().rules.found(secret)]  # it may have the form of a key, too
    if len(piece) >= SHORTEST_PIECE:
        hidden = [token(secret, kind) for kind in ("field", *by_chance)] if piece == secret else [PIECE]
        assert hide.text(f'got "{piece}"') in [f'got "{each}"' for each in hidden]
    head = secret[:size]
    if 4 <= len(head) < len(secret):
        assert hide.text(f"got {head}{ellipsis}") == f"got {PIECE}{ellipsis}"


def test_an_ellipsis_marks_a_cut_only_of_what_was_learned() -> None:
    """One inside a value is a part of it, and other words with the same beginning are none of it."""
    hide = redactor("x", learned={"x": ["wait... for the green door", "go… then stop"]})
    assert hide.text("got wait... for the green") == f"got {PIECE}"
    assert hide.text("got waiting… go… on") == "got waiting… go… on"


def test_a_long_text_is_redacted_in_no_time() -> None:
    """A megabyte with many places where a value might begin takes less than a second."""
    hide = redactor("x", learned={"x": ["user-4711-secret-name", "user-4712", "z" * 5000]})
    text = "user-471 and others " * 50_000 + "z" * 4000
    start = time.process_time()
    assert hide.text(text).endswith(PIECE)
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("form", ["user{}", "user{}@ma…", "{}: [redacted:email:01234567]"])
def test_many_values_that_begin_alike_are_redacted_in_no_time(form: str) -> None:
    """A list of thousands of accounts is hidden, and checked, in time that grows with its length."""
    rows = [
        f"{form.format(number)}, user{number}@mail.org, password: hunter{number}x" for number in range(4000)
    ]
    hide = Redactor()
    start = time.process_time()
    for data in (rows, "\n".join(rows)):
        hide.learn(data)
        shown = hide.data(data)
        assert hide.leaks(shown, shown) == []
        assert "@" not in str(shown).replace("@ma…", "")
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("before", [0, (1 << 20) - 5, 1 << 20, 3 << 20])
def test_a_long_text_is_suspected_wherever_its_secret_stands(before: int) -> None:
    """It is searched part by part, and a secret may stand where two parts meet."""
    rules = RedactionRules()
    assert rules.suspects(b" " * before + b"password: hunter2" + b" " * (1 << 20))
    assert not rules.suspects(b" " * (before + (1 << 20)))


@pytest.mark.parametrize("number", [1, 64, 65, 500])
def test_any_number_of_values_is_hidden(number: int) -> None:
    """A list of customers in a tool's answer: each address is found, however many others there are, and nothing else."""
    addresses = [f"{each:03}x@shop.example" for each in range(number)]
    redactor = Redactor()
    redactor.learn({"text": "\n".join(addresses)})
    shown = redactor.text("to " + ", ".join(address.upper() for address in addresses))
    assert shown == "to " + ", ".join(token(address, "email") for address in addresses)
    assert redactor.leaks(shown, ()) == []
    assert redactor.text("0, 1x@shop") == "0, 1x@shop"


@pytest.mark.parametrize("number", [1, 64, 65, 500])
def test_what_still_shows_is_found_among_any_number(number: int) -> None:
    """By the self-test, which looks another way, and whatever the number of values."""
    redactor = Redactor()
    redactor.learn({"passwords": [{"password": f"{each:03}-hush"} for each in range(number)]})
    assert redactor.leaks(f"it said {number - 1:03}-HUSH", ()) == ["credential"]
    assert redactor.leaks("it said 999-hush", ()) == []


@pytest.mark.parametrize(
    ("value", "before", "spelt", "after"),
    [
        ("Open Sesame!", "runs/", "open_sesame", ".json"),
        ("Ab cd ef", "runs/", "ab_cd_ef", ".json"),
        (" Öpen Sesame ", "?q=", "%C3%96pen+Sesame", "&n=1"),
        ('<a> said "no"', "<p>", '&lt;a&gt; said "no"', "</p>"),
        ('<a> said "no"', "<p>", "&lt;a&gt; said &quot;no&quot;", "</p>"),
        ("Öpen\nSesame", "as b64 ", "w5ZwZW4KU2VzYW1l", "=="),
        ('say "no" now', 'x: "', 'say \\\\\\"no\\\\\\" now', '"'),
        ("aaaab", "aaa", "aaaab", "b"),
        ("Open Sesame!1", "as b64 ", "T3BlbiBTZXNhbWUhMQ", "=="),
    ],
)
def test_a_value_is_found_in_names_and_encodings(value: str, before: str, spelt: str, after: str) -> None:
    """Without the blanks and signs around it."""
    known = KnownValues()
    known.add(value, "field")
    assert known.mask(before + spelt + after) == before + token(value) + after


def test_a_short_name_made_of_a_value_is_none() -> None:
    """Seven characters may be any other name."""
    known = KnownValues()
    known.add("Ab cd e", "field")
    assert known.mask("runs/ab_cd_e.json") == "runs/ab_cd_e.json"


@pytest.mark.parametrize(
    "conversation",
    [
        [f"the first half is {GITHUB[:22]}", GITHUB[22:]],
        [f"{GITHUB[:22]}", f"{GITHUB[22:]} is the rest"],
        ["the password is:", "hunter22"],
        ["What is the password?", "hunter22"],
        ["Please send me the API key:", "a1B2c3D4e5F6g7H8i9J0"],
    ],
)
def test_what_two_messages_tell_together_is_learned(conversation: list[str]) -> None:
    """The parts of a key, and the answer to a question: in a message, in the arguments of a call, in a result."""
    parts = [word for text in conversation for word in re.findall(r"\S*[0-9]\S*", text)]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(("user", "assistant"), conversation, strict=True)
    ]
    made = redactor(learned=[*messages, {"tool": "shell", "args": {"command": f"login {parts[-1]}"}}])
    shown = made.data([messages, f"login {parts[-1]}", f"got {parts[0]}."])
    assert [part for part in parts if part in str(shown)] == []
    assert made.leaks(shown, ()) == []


def test_two_messages_may_be_blocks_or_sends() -> None:
    """What providers have as blocks of text, and tools as an argument `text`."""
    halves = [f"the first half is {GITHUB[:22]}", GITHUB[22:]]
    for messages in (
        [{"content": [{"type": "text", "text": text}]} for text in halves],
        [{"tool": "send_message", "args": {"to": "group", "text": text}} for text in halves],
    ):
        shown = str(redactor(learned=messages).data(messages))
        assert GITHUB[:22] not in shown
        assert GITHUB[22:] not in shown


@pytest.mark.parametrize(
    "conversation",
    [
        ["Forgot your password?", "No, I did not forget it1"],
        ["I lost the token", "a1B2c3D4e5F6g7H8i9J0 is the order"],
        ["How are you?", "hunter22"],
        ["the password is:", "still unknown"],
    ],
)
def test_what_two_messages_tell_of_something_else_stays(conversation: list[str]) -> None:
    """An answer in words, another question, an id."""
    messages = [{"role": "user", "content": text} for text in conversation]
    assert redactor(learned=messages).data(messages) == messages


def test_a_token_in_a_workflow_command_stays() -> None:
    """Its colons are escaped there, and `token` before one names no secret."""
    title = token(GITHUB, "github-token").replace(":", "%3A")
    assert (
        redactor().redacted(f"::error title=x.{title}.y%3A a::failed")
        == f"::error title=x.{title}.y%3A a::failed"
    )
