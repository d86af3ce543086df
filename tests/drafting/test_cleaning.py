"""What a test must not hold is taken out of recordings; all else stays as it is."""

from hashlib import sha256
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agenteval.contracts.adapters import RecordedTest, owners_of
from agenteval.recording.cleaning import Cleaner, scrubbed_data, scrubbed_text, without_instructions
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import DEFAULT_RULES
from builders import make_trace

HOME = "/" + "home"
BLOB = "iVBORw0KGgo" + "aB3/" * 100


def mark(data: str) -> str:
    """What stands for data: the beginning of its hash."""
    return sha256(data.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"see {HOME}/dana/notes.md", "see ~/notes.md"),
        (f'"{HOME}/dana"', '"~"'),
        ("/Users/dana.lee/x", "~/x"),
        ("C:\\Users\\dana\\x and C:\\\\Users\\\\dana\\\\x", "~\\x and ~\\\\x"),
        (f"https://example.com{HOME}/page", f"https://example.com{HOME}/page"),
        (f"/srv{HOME}/x", f"/srv{HOME}/x"),
        ("done<system-reminder>\nobey\n</system-reminder> now", "done now"),
        ("<command-name>/clear</command-name>hello", "hello"),
        ("<b>bold</b> & <system-reminder>cut off", "<b>bold</b> & <system-reminder>cut off"),
        (f"![x](data:image/png;base64,{BLOB})", f"![x]([image/png {mark(BLOB)}])"),
        (f"raw {BLOB}!", f"raw [base64 {mark(BLOB)}]!"),
        ("a" * 300, "a" * 300),
        ("0" * 300, "0" * 300),
        ("short QUJD1234", "short QUJD1234"),
    ],
)
def test_texts(text: str, clean: str) -> None:
    """Home folders, harness texts and blobs go, and nothing that only looks like one."""
    assert scrubbed_text(text) == clean


SPELLINGS = [
    *(f"{HOME}/{{0}}/harbour", "/Users/{0}/harbour", f"/var{HOME}/{{0}}/x", f"\\n{HOME}/{{0}}/x"),
    *(
        "C:\\Users\\{0}\\x",
        "c:\\\\users\\\\{0}\\\\x",
        "C:/Users/{0}/x",
        "/mnt/c/Users/{0}/x",
        "/c/Users/{0}/x",
    ),
    *(
        "/cygdrive/c/Users/{0}",
        f"\\\\wsl$\\Ubuntu\\{HOME[1:]}\\{{0}}\\x",
        f"//wsl.localhost/Ubuntu{HOME}/{{0}}/x",
    ),
    *(
        f"file://{HOME}/{{0}}/x",
        "file:///C:/Users/{0}/x",
        "vscode://file/Users/{0}/x",
        "idea://open?file=/Users/{0}/x",
    ),
    *(f'"\\/{HOME[1:]}\\/{{0}}\\/x"', f"u=%2F{HOME[1:]}%2F{{0}}%2Fx", "file%3A%2F%2F%2FUsers%2F{0}%2Fx"),
    *("C%3A%5CUsers%5C{0}%5Cx", f"next=a%3D%2F{HOME[1:]}%2F{{0}}", "u=%252FUsers%252F{0}"),
    *(
        f"/tmp/claude-1000/{HOME.replace('/', '-')}-{{0}}-harbour/b1",
        "-Users-{0}-harbour",
        "C--Users-{0}-harbour",
    ),
    "-mnt-c-Users-{0}-harbour",
]
"""Ways to write a home folder."""
PLACES = [
    *(
        "/srv/{0}/x",
        "/tmp/pytest-of-{0}/pytest-0",
        "D:\\{0}\\x",
        "~{0}/x",
        "{0}/x.md",
        "/x/{0}.md",
        "u=%2Fsrv%2F{0}%2Fx",
    ),
    *("{0}@box:~$ ls", "scp x {0}@box:/tmp", "see users_{0}_x"),
]
"""Other places in paths where the name of an account may stand."""


@pytest.mark.parametrize("name", ["alexm", "AlexM", "dana_lee", "jos\u00e9"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_home_folder_is_removed_however_it_is_written(spelling: str, name: str) -> None:
    """Of Windows and as others see its drives, in addresses, escaped, encoded, and as a folder of Claude Code."""
    clean = scrubbed_text(f"see {spelling.format(name)} there")
    assert name.lower().partition("_")[0] not in clean.lower()
    assert clean.startswith("see ")
    assert clean.endswith(" there")
    assert scrubbed_text(clean) == clean


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("spelling", [SPELLINGS[0], SPELLINGS[4], SPELLINGS[-1]])
def test_a_name_that_is_learned_is_removed_from_paths(spelling: str, place: str) -> None:
    """In any text of the data, in keys, and in the ids of fixtures, in which paths have other signs."""
    data = {
        "cwd": spelling.format("alexm"),
        place.format("AlexM"): [place.format("alexm")],
        "fixture_id": "fx.read.srv_alexm_x",
    }
    clean = scrubbed_data(data)
    assert "alexm" not in str(clean).lower()
    assert clean["fixture_id"] == "fx.read.srv_user_x"
    assert clean[place.format("user")] == [place.format("user")]
    assert scrubbed_data(clean) == clean


def test_two_people_stay_two() -> None:
    """In the order in which the data names them."""
    data = [f"{HOME}/alexm/x", "/Users/dana.lee/y", "/srv/dana-lee and /srv/alexm", "dana/x"]
    assert scrubbed_data(data) == ["~/x", "~/y", "/srv/user2 and /srv/user", "dana/x"]


@pytest.mark.parametrize(
    "text",
    [
        f"{HOME}/max/x: max_tokens, max-width, a max of 3, maximal/x, /srv/maxima/x, max.",
        f"{HOME}/node/x /usr/lib/node/y, {HOME}/ubuntu/x /etc/ubuntu/y, {HOME}/al/x /srv/al/y",
        "at-home-office-setup --home-dir nav-home-link, GET /users/alexm, /srv/home/alexm",
    ],
)
def test_a_name_stays_where_there_is_no_path(text: str) -> None:
    """In words, in keys, in longer words; so do accounts that are nobody's, those of two letters, and other folders."""
    clean = scrubbed_text(text)
    for home in ("max", "node", "ubuntu", "al"):
        clean = clean.replace("~/x", f"{HOME}/{home}/x", 1) if f"{HOME}/{home}/x" in text else clean
    assert clean == text


@given(
    name=st.from_regex("[a-z]{3}[a-z0-9]{2,8}", fullmatch=True),
    spelling=st.sampled_from(SPELLINGS),
    places=st.lists(st.sampled_from(PLACES), max_size=3),
    around=st.text(alphabet="ab \n\"'(),", max_size=5),
)
def test_no_name_of_a_home_folder_is_left(name: str, spelling: str, places: list[str], around: str) -> None:
    """Whoever it is, and however the recording writes it."""
    texts = [f"{around} {text.format(name)} {around}" for text in (spelling, *places)]
    owners = owners_of(texts)
    assume(owners)
    clean = scrubbed_data(texts, owners)
    template = " ".join(text.format("") for text in (spelling, *places)) + around + "user"
    assume(name not in template.lower())
    assert name not in str(clean)
    assert scrubbed_data(clean) == clean


def test_pictures_in_blocks() -> None:
    """A block of base64 is a picture however small it is; equal pictures stay equal."""
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    clean = scrubbed_data([block, block])
    assert clean[0] == clean[1]
    assert clean[0]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": f"[image/png {mark('QUJD')}]",
    }


def test_keys_are_cleaned_too() -> None:
    """A mapping of paths names them in its keys."""
    assert scrubbed_data({f"{HOME}/dana/a": 1}) == {"~/a": 1}


def test_instructions_are_left_out_wherever_they_stand() -> None:
    """Messages and steps whose role is `system`; a mapping that only has such a key stays."""
    data = {
        "script": [
            {"type": "message_received", "role": "system", "content": "obey"},
            {"type": "message_received", "role": "user", "content": "hi"},
        ],
        "role": "system",
    }
    assert without_instructions(data) == {"script": [data["script"][1]], "role": "system"}


@given(st.text(max_size=400))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """What is clean stays as it is."""
    once = scrubbed_text(text)
    assert scrubbed_text(once) == once


def test_hostile_texts_take_no_time() -> None:
    """Patterns look at a text once: a megabyte of beginnings is no trap."""
    start = process_time()
    pieces = (
        "<system-reminder>",
        "data:a/b;base64",
        "</",
        f"{HOME}/",
        "aB3/",
        "C:\\Users\\",
        "\\",
        "%25",
        "-home-",
    )
    for piece in (*pieces, "/a.", "a:", "//", f"{HOME}/alexm/", f"{HOME}/alexm alexm-", "/Users/a a a a "):
        scrubbed_text(piece * (1_000_000 // len(piece)))
    scrubbed_data([f"{HOME}/user-of-{number}x/{number}" for number in range(20_000)])
    assert process_time() - start < 10


def test_no_credential_of_a_span_is_kept() -> None:
    """OTLP wraps each value by its type; the name of a secret still goes for it."""
    attributes = [
        {"key": "api_key", "value": {"stringValue": "hunter2-xyzzy"}},
        {"key": "http.header.authorization", "value": {"arrayValue": {"values": [{"stringValue": "cats"}]}}},
        {"key": "user", "value": {"stringValue": "dana"}},
    ]
    recorded = RecordedTest(
        scenario={}, replay={"attributes": attributes}, fixtures=[], tools=[], trace=make_trace()
    )
    cleaned = Cleaner(DEFAULT_RULES).clean(recorded).replay["attributes"]
    key, header = token("hunter2-xyzzy", "credential"), token("cats", "credential")
    assert cleaned == [
        {"key": "api_key", "value": {"stringValue": key}},
        {"key": "http.header.authorization", "value": {"arrayValue": {"values": [{"stringValue": header}]}}},
        {"key": "user", "value": {"stringValue": "dana"}},
    ]
