"""What counts as personal data in a text, and what only looks like it."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.redaction.personal_data import personal_data


def found(text: str) -> list[tuple[str, str]]:
    """Kind and text of what is found."""
    return [(each.kind, text[each.start : each.end]) for each in personal_data(text)]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("email", "dana@example.com"),
        ("email", "dana.m+news_1%x@mail.co.example.org"),
        ("email", "dana\uff20example.com"),
        ("email", "dana@m\u00fcller.example"),
        ("email", "dana@163.com"),
        ("email", "dana@mail4you.example.de"),
        ("email", "D-M@Mail-2.3M.Example"),
        ("email", "a" * 64 + "@" + ("b" * 63 + ".") * 8 + "c" * 24),
        ("phone", "+49\u00a0171\u202f2345678"),
        ("phone", "555\u2011223\u20114567"),
        ("phone", "\u0660\u0661\u0667\u0661 \u0662\u0663\u0664\u0665\u0666\u0667\u0668"),
        ("credit_card", "4111\u00a01111\u00a01111\u00a01111"),
        ("phone", "+49 171 2345678"),
        ("phone", "+491712345678"),
        ("phone", "+49 1234567"),
        ("phone", "+491712345678901"),
        ("phone", "+49 (0) 171/23.45-678"),
        ("phone", "+1 (555) 223-4567"),
        ("phone", "0049 171 2345678"),
        ("phone", "00 1-555-223-4567"),
        ("phone", "0049 123456"),
        ("phone", "001 123456789012"),
        ("phone", "00353/1/(234)56.78"),
        ("phone", "0171 2345678"),
        ("phone", "030/1234567"),
        ("phone", "01234-12345678"),
        ("phone", "01-23-45-67-89-01"),
        ("phone", "01 2345 12345678"),
        ("phone", "(555) 223-4567"),
        ("phone", "555-223-4567"),
        ("phone", "(555)223.4567"),
        ("phone", "1-800-223-4567"),
        ("phone", "1.800.223.4567"),
        ("phone", "1 800 223 4567"),
        ("phone", "(0171) 2345678"),
        ("phone", "(020) 7946 0958"),
        ("phone", "(01)23-45-67-89-01"),
        ("phone", "(01234) 12345678"),
        ("phone", "(01) 2345 12345678"),
        ("phone", "06 12 34 56 78"),
        ("phone", "06.12.34.56.78"),
        ("credit_card", "4111111111111111"),
        ("credit_card", "4111 1111 1111 1111"),
        ("credit_card", "5105-1051-0510-5100"),
        ("credit_card", "5105.1051.0510.5100"),
        ("credit_card", "5105  1051  0510  5100"),
        ("credit_card", "2223 0031 2200 3222"),
        ("credit_card", "3782 822463 10005"),
        ("credit_card", "6011111111111117"),
        ("credit_card", "30569309025904"),
        ("credit_card", "3530111333300000"),
        ("credit_card", "6200000000000005"),
        ("ip", "192.168.1.4"),
        ("ip", "8.8.8.8"),
        ("ip", "10.255.0.100"),
        ("ip", "2001:db8::1"),
        ("ip", "fe80::1ff:fe23:4567:890a"),
        ("ip", "FE80::1"),
        ("ip", "2001:0DB8:0000:0000:0000:FF00:0042:8329"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "It is {}.", "<{}>, and so on", "a:\n- {}\n", "“{}”"])
def test_what_is_found(kind: str, value: str, around: str) -> None:
    """At the places at which it stands in texts."""
    assert found(around.format(value)) == [(kind, value)]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("联系电话+86 138 1234 5678。", [("phone", "+86 138 1234 5678")]),
        ("电话:+86 138 1234 5678", [("phone", "+86 138 1234 5678")]),
        ("卡号4111111111111111过期", [("credit_card", "4111111111111111")]),
        ("地址8.8.8.8。", [("ip", "8.8.8.8")]),
        ("the server 8.8.8.8 is down", [("ip", "8.8.8.8")]),
        ("2026:11:21 2001:db8::1", [("ip", "2001:db8::1")]),
        ("服务器2001:db8::1上", [("ip", "2001:db8::1")]),
        ("<dana@example.com联系>", [("email", "dana@example.com")]),
        (
            "_+49 171 2345678_ or _dana@example.com_",
            [("phone", "+49 171 2345678"), ("email", "_dana@example.com")],
        ),
        ("IMG_0171-2345678.jpg, card_4111111111111111", []),
        ("IBAN DE89 3704 0044 0532 0130 00", []),
    ],
)
def test_what_stands_right_beside(text: str, data: list[tuple[str, str]]) -> None:
    """Scripts without blanks and marks of italics touch what they stand beside; names of files hold no number."""
    assert found(text) == data


@pytest.mark.parametrize("number", ["4111111111111111", "8.8.8.8"])
@pytest.mark.parametrize("around", ["a{}", "Z{}", "_{}", ".{}", "{}a", "{}Z", "{}_"])
def test_what_stands_beside_a_card_or_an_address_may_make_it_another(around: str, number: str) -> None:
    """It is a part of a name then."""
    assert found(around.format(number)) == []


@pytest.mark.parametrize("before", ["a", "Z", "3", "+", ".", "/", "-", "3:", "3 ", "x_"])
def test_what_stands_before_a_number_may_make_it_another(before: str) -> None:
    """It is in a word, a longer number, a path or a time then."""
    assert found(f"{before}0171 2345678") == []


@pytest.mark.parametrize("after", ["a", "Z", "9012345", "_x", ".5", ":5", "/5", "-5"])
@pytest.mark.parametrize("number", ["+49 171 2345678", "555-223-4567", "0171 2345678"])
def test_what_stands_after_a_number_may_make_it_another(number: str, after: str) -> None:
    """It goes on then."""
    assert ("phone", number) not in found(number + after)


def issued(prefix: str, length: int) -> str:
    """A number that begins so, has so many digits, and passes the Luhn check."""
    digits = prefix.ljust(length - 1, "0")
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[::-2]]
    return digits + str(-(sum(doubled) + sum(map(int, digits[-2::-2]))) % 10)


@pytest.mark.parametrize(
    ("prefixes", "lengths"),
    [
        (["4"], {13, 16, 19}),
        (["51", "55", "2221", "2229", "223", "229", "23", "26", "270", "271", "2720"], {16}),
        (["34", "37"], {15}),
        (["6011", "644", "649", "65"], {16, 19}),
        (["300", "305", "36", "38"], {14}),
        (["3528", "3529", "353", "358"], {16, 19}),
        (["62"], {16, 17, 18, 19}),
        (["50", "56", "2220", "2721", "33", "6010", "643", "66", "306", "39", "3527", "359", "61"], set()),
    ],
)
def test_a_card_number_begins_and_is_as_long_as_its_issuer_makes_it(
    prefixes: list[str], lengths: set[int]
) -> None:
    """Digits of other lengths, or that begin otherwise, are none, though they pass the check."""
    for prefix in prefixes:
        numbers = [issued(prefix, length) for length in range(12, 22)]
        assert {len(each) for each in numbers if found(f"card {each} x")} == lengths


def test_groups_of_a_card_number_have_three_to_seven_digits() -> None:
    """Digits in other groups are other numbers; the one after such a group may be a card's."""
    card = "4111111111111111"
    assert found("411 1111111 111111") == [("credit_card", "411 1111111 111111")]
    assert found("41 11111111111111") == found("41111111 11111111") == []
    assert found(f"12 {card} {card}-27") == [("credit_card", card)] * 2


def test_an_address_of_a_chat_is_no_mail_address() -> None:
    """A group of WhatsApp has an id, a person there has a number."""
    assert found("to 120363041234567890@g.us or 12345@c.us") == []
    for chat in ("s.whatsapp.net", "c.us"):
        assert found(f"to 491712345678@{chat}") == [("phone", "491712345678")]
    assert found("to 491712345678@example.net") == [("email", "491712345678@example.net")]


@pytest.mark.parametrize("before", ["tel:", "Phone:", "[call](tel:"])
@pytest.mark.parametrize("number", ["+49-171-2345678", "0171 2345678"])
def test_a_phone_number_may_follow_its_name(before: str, number: str) -> None:
    """As in links that call it; a time is no name."""
    assert found(f"{before}{number})") == [("phone", number)]
    assert found(f"10:30:{number})") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no data at all",
        "git@github.com:org/repo.git",
        "logo@2x.png, icon@3x.jpeg, left-pad@1.3.0.tgz",
        "4111   1111   1111   1111, 4111..1111.1111.1111",
        "2019\u20132026, pages 10\u201315, 1\u00a0200\u00a0000 euros",
        "2026-11-21T20:53:01.527Z",
        "on 01-12-2026, 01/12/2026 or 1.12.2026 at 12:30:45",
        "0 9 * * 1-5",
        "1,200 jobs, 40,000 euros, 58.5 %, 3.14159265358979",
        "task-20261123080004100 evt-4 toolu_01DBQv sess-1795294381556",
        "1795294381556 and 6037840640",
        "ISBN 978-3-16-148410-0",
        "version 10.2.3.4, v1.2.3.4 and 1.2.3.4.5",
        "Release 10.2.3.4, build   10.2.3.4, ver 10.2.3.4, ver. 10.2.3.4",
        "v10.0.19045.3570, 31.0.15.3623, v 10.2.3.4, Versions 10.2.3.4, the version is 10.2.3.4",
        "version: 10.2.3.4, Version=10.2.3.4, release-10.2.3.4, build (10.2.3.4), releases/10.2.3.4/notes",
        '{"version": "10.2.3.4"}, **Version:** `10.2.3.4`, <version>10.2.3.4</version>, | build | 10.2.3.4 |',
        "Mozilla/5.0 (Windows NT 10.0) Chrome/120.0.0.0, 10.0.0.0/8",
        "127.0.0.1, 0.0.0.0, ::1 and 255.255.255.0",
        "256.1.1.1 or 01.2.3.4",
        "2026:11:21, dead:beef, 12001:db8::1, 2001:db8::1:, x.2001:db8::1, 2001:db8::1g",
        f"{'a' * 65}@b.cc, a@{'b' * 64}.cc, a@{'b.' * 9}cc, a@b.{'c' * 25}, a@b.c, a@b.cc-d, a@b.cc1, a@b-.cc",
        "+49 123456, +4917123456789012, 491712345678.x@c.us",
        "4111111111111111x, 4111111111111111_1, X4111111111111111, 0.4111111111111111",
        "aa:bb:cc:dd:ee:ff, a[1::2], std::vector<int>",
        "4111 1111 1111 1112",
        "1234 5678 9012 3456",
        "@dana, dana@home, @example.com",
        "0800 123",
        "00491712345678",
    ],
)
def test_what_only_looks_like_it(text: str) -> None:
    """Dates, times, amounts, versions, ids and numbers that fail the check are no personal data."""
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("the build server 10.2.3.4", "build -> 10.2.3.4", "Release:\n- 10.2.3.4 is the server"),
        *("deployed version 2.1 to 10.2.3.4", "ipv4: 10.2.3.4", "dev 10.2.3.4", "10.0.0.1", "10.2.0.0"),
    ],
)
def test_an_address_near_a_version_is_one(text: str) -> None:
    """What stands elsewhere than right after the word for a version names a machine."""
    assert [kind for kind, _ in found(text)] == ["ip"]


@pytest.mark.parametrize("key", ["version", "appVersion", "os_build", "release", "v", "versions"])
def test_what_a_key_calls_a_version_is_no_address(key: str) -> None:
    """The value itself; an address in a text under that key is one, and so is the value under another key."""
    assert personal_data("10.2.3.4", key) == []
    assert [each.kind for each in personal_data("10.2.3.4 runs on 10.2.3.5", key)] == ["ip"]
    assert [each.kind for each in personal_data("10.2.3.4", f"{key}_host")] == ["ip"]


def test_places_are_in_order() -> None:
    """Each finding with its own place, whatever its kind."""
    text = "8.8.8.8, dana@example.com, 555-223-4567, 12 4111-1111-1111-1111 02/27, leo@example.com"
    assert [kind for kind, _ in found(text)] == ["ip", "email", "phone", "credit_card", "email"]


def test_a_card_number_is_no_phone_number() -> None:
    """Digits are one thing or the other."""
    assert found("+378282246310005") == [("credit_card", "378282246310005")]
    text = "+49 171 2345678, +378282246310005 and +49 171 2345679"
    assert [kind for kind, _ in found(text)] == ["phone", "credit_card", "phone"]


@given(st.text(alphabet="0123456789+-. ()/:@abcf", max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Every finding is a piece of the text that begins and ends with a sign of its own."""
    for each in personal_data(text):
        assert 0 <= each.start < each.end <= len(text)
        assert text[each.start : each.end].strip() == text[each.start : each.end]


@pytest.mark.parametrize(
    "piece", ["1", "1 ", "a@", "a.", "+1", "1.", "abcd:", ":", "0171 ", "4111 ", "0049 1", "(", "12-"]
)
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    """Nothing that is repeated makes the search slow."""
    start = process_time()
    personal_data(piece * (200_000 // len(piece)))
    assert process_time() - start < 3
