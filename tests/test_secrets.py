"""The detector of secrets: what it finds, what it leaves alone, and that no text takes it long."""

import json
import time
from base64 import b64encode, urlsafe_b64encode
from textwrap import wrap
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.redaction.keys import FORMS as KNOWN_FORMS
from agenteval.redaction.keys import keys_in
from agenteval.redaction.secrets import (
    BASIC_AUTH,
    COOKIE,
    CREDENTIAL,
    GROUPS,
    KINDS,
    detect,
    is_secret,
    is_value,
    may_contain,
    names_secret,
)
from planted import ANTHROPIC, AWS, GITHUB, JWT, MORE, PLANTED, PRIVATE_KEY

FORMS = {**{kind: value for kind, value in PLANTED.items() if kind not in ("credential", "email")}, **MORE}

TWICE_BEGUN = f"{PRIVATE_KEY.splitlines()[0]}\n{PRIVATE_KEY}"
UNSIGNED_JWT = JWT.rsplit(".", 1)[0]
"""One of two parts."""
ENCRYPTED_JWT = f"{UNSIGNED_JWT}.48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rp.XFBoMYUZodetZdvTiFvSkQ"
"""One of five parts."""


def shown(text: str) -> list[tuple[str, str]]:
    """What is found in a text: kind, and the words."""
    return [(each.kind, text[each.start : each.end]) for each in detect(text)]


def test_there_is_a_sample_of_each_kind() -> None:
    """So that no rule is without a test."""
    assert sorted({*FORMS, BASIC_AUTH, COOKIE, CREDENTIAL}) == list(KINDS)
    assert {form.kind for form in KNOWN_FORMS} == set(FORMS)


@pytest.mark.parametrize(("kind", "value"), FORMS.items(), ids=list(FORMS))
@pytest.mark.parametrize("around", ["{}", "it is {}.", '{{"x": "{}"}}', "a\n{}\nb", "<{}>", "({}), x"])
def test_each_form_is_found_whole(kind: str, value: str, around: str) -> None:
    """From its first sign to its last, and nothing beside it, whatever it stands in."""
    text = around.format(value)
    wanted = value.removeprefix("Bearer ") if kind == "bearer-token" else value
    assert shown(text) == [(kind, wanted)]
    assert may_contain(text.encode())


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("github-token", "github_pat_"),
        *(("openai-key", f"sk-{owner}-") for owner in ("proj", "svcacct", "admin")),
        ("npm-token", "//registry.example/:_authToken="),
        *(("service-key", f"{service}.") for service in ("ya29", "hvs")),
        *(
            ("service-key", prefix)
            for prefix in (
                *(
                    "AGE-SECRET-KEY-",
                    "ATATT3",
                    "GOCSPX-",
                    "PMAK-",
                    "dapi",
                    "dckr_pat_",
                    "dop_v1_",
                    "figd_",
                    "glsa_",
                    "gsk_",
                    "hf_",
                ),
                *(
                    "lin_api_",
                    "lsv2_pt_",
                    "lsv2_sk_",
                    "nfp_",
                    "ntn_",
                    "pplx-",
                    "r8_",
                    "rk_test_",
                    "sbp_",
                    "shpat_",
                    "shpca_",
                ),
                *(
                    "shppa_",
                    "shpss_",
                    "sk-",
                    "sk-lf-",
                    "sk-or-v1-",
                    "sk_test_",
                    "tvly-",
                    "whsec_",
                    "xai-",
                    "xapp-",
                ),
            )
        ),
    ],
)
@pytest.mark.parametrize("around", ["key {} x", "a\\n{}\\nb"])
def test_other_ways_in_which_keys_begin(kind: str, begins: str, around: str) -> None:
    """Of a kind that has several, and after an escaped line break, whose letter is no part of a key."""
    text = around.format(begins + "a1B2c3D4e5F6g7H8i9J0" * 2)
    (found,) = shown(text)
    assert found == (
        kind,
        "a1B2c3D4e5F6g7H8i9J0" * 2
        if begins.endswith("=")
        else text[text.index(begins) :][: len(begins) + 40],
    )
    assert may_contain(text.encode())


BODY = "a1B2c3D4e5F6g7H8i9J0" * 4


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(
            ("gitlab-token", f"{begins}{BODY[:size]}")
            for begins, size in (
                *(("gldt-", 20), ("glft-", 20), ("glsoat-", 20), ("glrt-", 20), ("GR1348941", 20)),
                *(("glcbt-", 20), ("glcbt-64_", 20), ("glimt-", 25), ("glptt-", 40), ("glagent-", 50)),
                ("gloas-", 64),
            )
        ),
        *(
            ("private-key", f"-----BEGIN {what}-----\n{BODY}\n-----END {what}-----")
            for what in (
                *(f"{sort} PRIVATE KEY" for sort in ("DSA", "EC", "OPENSSH", "SSH2 ENCRYPTED")),
                *("PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
            )
        ),
        ("private-key", f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 6\n{BODY}"),
        ("pypi-token", f"pypi-AgENdGVzdC5weXBpLm9yZw{BODY}"),
        ("slack-token", f"https://hooks.slack.com/services/T{BODY[:8]}/B{BODY[:8]}/{BODY[:24]}"),
        ("twilio-key", f"SK{BODY[:32].lower()}"),
    ],
)
def test_each_variant_of_a_form_is_found(kind: str, value: str) -> None:
    """Several kinds have more than one; and the sieve lets each through."""
    assert shown(f"it is\n{value}") == [(kind, value)]
    assert may_contain(value.encode())


HEXADECIMAL = "0a9b8c7d6e5f4d3c2b1a" * 4


@pytest.mark.parametrize(
    ("kind", "begins", "body"),
    [
        *(("service-key", begins, BODY[:56]) for begins in ("vcp_", "vci_", "vca_", "vcr_", "vck_")),
        *(("service-key", begins, BODY[:48]) for begins in ("cfk_", "cfut_", "cfat_")),
        ("aws-access-key", "ABSK", BODY + BODY[:52]),
        ("google-key", "AQ.", f"Ab8{BODY[:48]}"),
        ("service-key", "sb_secret_", f"{BODY[:22]}_{BODY[:8]}"),
        ("service-key", "pcsk_", f"{BODY[:6]}_{BODY[:63]}"),
        ("gitlab-token", "gloas-", HEXADECIMAL[:64]),
        *(("gitlab-token", begins, BODY[:20]) for begins in ("glffct-", "glwt-", "glrtr-")),
        ("service-key", "nvapi-", f"{BODY[:9]}-{BODY[:9]}_{BODY[:44]}"),
        ("service-key", "e2b_", HEXADECIMAL[:40]),
        ("service-key", "fc-", HEXADECIMAL[:32]),
        ("service-key", "apify_api_", BODY[:36]),
        ("service-key", "tskey-auth-", f"{BODY[:16]}-{BODY[:32]}"),
        ("service-key", "phx_", BODY[:43]),
        ("service-key", "re_", f"{BODY[:8]}_{BODY[:24]}"),
        ("service-key", "pscale_tkn_", BODY[:43]),
        ("service-key", "glc_", BODY),
        ("service-key", "HRKU-", BODY[:60]),
        ("service-key", "bkua_", HEXADECIMAL[:40]),
        ("service-key", "rubygems_", HEXADECIMAL[:48]),
        ("service-key", "dp.st.", BODY[:43]),
        ("service-key", "csk-", HEXADECIMAL[:48]),
        # No service writes these, but another may begin to.
        *(
            ("service-key", begins, BODY[:30])
            for begins in ("zz_", "newai-", "acme_live_", "NEW1.", "x9.y8.")
        ),
    ],
)
def test_newer_keys_are_found_without_a_name_beside_them(kind: str, begins: str, body: str) -> None:
    """By the mark of their service, or by any mark before 30 signs of letters in both cases and digits."""
    for around in ("I used {} for it.", '{{"x": "{}"}}', "KEY={}", "a\\n{}\\nb", "see {}, please"):
        text = around.format(begins + body)
        assert shown(text) == [(kind if "KEY=" not in text else shown(text)[0][0], begins + body)]
        assert may_contain(text.encode())
        assert may_contain(json.dumps(text).encode())


SAFE_ROW = "x_9QzT4bKWm-7aRfE2HcJ0dVn5sLgYPu8iXo3kBDtrq"
"""A key at random of the 64 signs that addresses may hold."""


@pytest.mark.parametrize(
    "key",
    [
        *(
            begins + SAFE_ROW
            for begins in (
                "figd_",
                "dckr_pat_",
                "dbtc_",
                "fk-",
                "wandb_v1_",
                "zz_",
                "newai-live-",
                "1//0",
                "AQVN",
            )
        ),
        *(
            begins + HEXADECIMAL[:40]
            for begins in (
                "napi_",
                "sqp_",
                "dtn_",
                "crsr_",
                "n8n_api_",
                "cal_live_",
                "sgp_0a9b8c7d6e5f4d3c_",
                "CCIPAT_a1B2c3D4e5_",
            )
        ),
        "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",
        f"{BODY[:14]}.atlasv1.{BODY[:67]}",
        f"pat{BODY[:14]}.{HEXADECIMAL[:64]}",
        f"{BODY[:52]}JQQJ99BAACYeBjFXJ3w3AAABACOGa1B2",
        f"aB38Q~{BODY[:34]}",
        f"access-production-{HEXADECIMAL[:8]}-0a9b-8c7d-6e5f-{HEXADECIMAL[:12]}",
        f"access_token$production$a1b2c3d4e5f6g7h8${HEXADECIMAL[:32]}",
        "sk-helicone-m7wg38n-46bx7v0-3nlz6hw-dqryzda",
    ],
)
def test_keys_of_other_alphabets_and_shapes_are_found(key: str) -> None:
    """Keys hold `-` and `_`, hexadecimal digits, or letters alone, and some have their mark in the middle."""
    assert [found for _, found in shown(f"I used {key} for it.")] == [key]
    assert may_contain(f"I used {key} for it.".encode())


ROW = "01Hia0bC2dE3fG4hJ5kL6mN7pQ8rS9tUvWxYz"


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"{begins}{ROW[:24]}"
            for begins in ("toolu_", "msg_", "req_", "call_", "srvtoolu_", "toolu_vrtx_")
        ),
        *(f"{begins}{ROW[:29]}" for begins in ("chatcmpl-", "gen-1750000000-", "dpl_", "thread_")),
        *(
            f"{begins}{HEXADECIMAL[:48]}"
            for begins in ("resp_", "rs_", "msg_", "trace_", "sha256-", "run-", "v1.")
        ),
        f"00-{HEXADECIMAL[:32]}-{HEXADECIMAL[:16]}-01",
        f"chatcmpl-{HEXADECIMAL[:8]}-{HEXADECIMAL[:4]}-{HEXADECIMAL[:4]}-{HEXADECIMAL[:4]}-{HEXADECIMAL[:12]}",
        *(f"sha{size}-{ROW}" for size in (1, 256, 384, 512)),
        f"wamid.{ROW}{ROW}==",
        f"cs_test_{ROW}{ROW}",
        f"data:image/png;base64,iVBORw0KGgo{ROW}{ROW}",
        f"https://docs.example/d/{ROW}{ROW}/edit",
        "run-20261128T084417Z-0a9b8c7d",
        "this.handleInitialSocks5AuthenticationHandshakeResponse",
        "exports.X509SubjectAlternativeNameExtensionParser",
        "this.decodeUtf8StringFromBase64BufferWithUtf16Fallback",
        "test_HTTP2Server_Returns404ForXMLRequest3_AndRetries",
        "M680-80v-120H560v-80h120v-120h80v120h120v80H760v120h-80ZM200-200v-200h560v0",
        "run-20261128T100504Z-81d0bdc5-shard-1-of-2-20261128T100505Z",
        "hf_hub_download_with_retries_and_caches",
        "re_export_all_of_the_modules_of_package_2",
        f"{HEXADECIMAL[:40]}.tar.gz, img_20260101_120000_0a9b8c7d6e5f4d3c.png",
    ],
)
def test_honest_ids_stay(text: str) -> None:
    """Ids of calls, messages, runs and traces, digests, images, addresses and names in code: hidden, they would break traces."""
    assert shown(f'{{"id": "{text}", "of": "{text}.json"}} {text}') == []


@pytest.mark.parametrize("end", ["C", "d", "5", "_", "-", "=="])
def test_a_bearer_token_has_signs_of_several_sorts(end: str) -> None:
    """Letters, digits and `._~+/-`, in one case with digits, in both also without; the full stop after it is none of them."""
    for value in (f"aB3._~+/-{'a1' * 10}{end}", f"{'0a' * 16}{end.lower()}", f"qWeRtYuIoPaSdFgHjKlZ{end}"):
        assert shown(f"Bearer {value}.") == [("bearer-token", value)]
        assert may_contain(f"Bearer {value}.".encode())


def test_a_password_in_an_address_is_suspected() -> None:
    """Without any other sign of one."""
    assert may_contain(b"ftp://bob:pw@host.example")
    assert not may_contain(b"see ftp://host.example")
    assert not may_contain(b"bob@host.example")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password: hunter2", "hunter2"),
        ("password: /a1b2c3d4", "/a1b2c3d4"),
        ("PWD=a1b2/c3d4", "a1b2/c3d4"),
        ("Passwort: gRx93kd_a1", "gRx93kd_a1"),
        ("DB_PASSWORT=letmein", "letmein"),
        ("**Password:** hunter2", "hunter2"),
        ("- **API key**: abcd1234", "abcd1234"),
        ("password = letmein", "letmein"),
        ('{"db_password": "let me in"}', "let me in"),
        ("{'passwd': 'it\\'s me'}", "it\\'s me"),
        ("password: 'it''s me'", "it''s me"),
        ("password: '''quoted'''", "''quoted''"),
        ('{\\"apiKey\\": \\"zzz9zzz\\"}', "zzz9zzz"),
        ("{\\'apiKey\\': \\'zzz9 zzz\\'}", "zzz9 zzz"),
        ('"client-secret" : "a1b2"', "a1b2"),
        ("export API_KEY=abc123def; run", "abc123def"),
        ("https://x.example/?token=abc123def&page=2", "abc123def"),
        ("Authorization: Bearer abc123", "abc123"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
        ('"password": "cut off he', "cut off he"),
        ('"password": "hunter2!"', "hunter2!"),
        ("The wifi password is Sunny-2024.", "Sunny-2024"),
        ("Your **password** is now: **hunter22**!", "hunter22"),
        ("the passphrase was “correct9horse”", "correct9horse"),
        ("mysql -u root --password hunter22 < dump.sql", "hunter22"),
        ("vercel --prod --token a1b2c3d4e5", "a1b2c3d4e5"),
        ("deploy --github-token 'a1b2c3d4e5'", "a1b2c3d4e5"),
        ("aws configure --secret-key a1b2c3d4e5", "a1b2c3d4e5"),
        (f"tool --{'a' * 32}encryption-key a1b2c3d4e5", "a1b2c3d4e5"),
        ('["mysql","--password","hunter2"]', "hunter2"),
        ("['deploy', '--api-key', 'a1 b2 c3']", "a1 b2 c3"),
        ('"args": [\n    "--password",\n    "hunter2"\n  ]', "hunter2"),
        ('"[\\"--db-password\\", \\"hunter2\\"]"', "hunter2"),
        ('["run", "--token=a1b2c3d4"]', "a1b2c3d4"),
        ("args:\n  - --password\n  - hunter2\n", "hunter2"),
        ("args:\n  - '--password'\n  - 'hunter2'\n", "hunter2"),
        ('{"content": "args:\\n- --password\\n- hunter2"}', "hunter2"),
        ("export DB_PASSWORD=a1(b2)c3,d4&e5;f6\r\nDEBUG=1", "a1(b2)c3,d4&e5;f6"),
        ("DB_PASSWORD=p4&w0rd  # of the test system", "p4&w0rd"),
        ('{"content": "DEBUG=1\\nDB_PASSWORD=a1(b2)c3\\nPORT=1"}', "a1(b2)c3"),
        ("- wifi password: sun(flower)22.", "sun(flower)22"),
        ("- **Wifi password**: sun(flower)22", "sun(flower)22"),
        ("log in with password=p4ss&w0rd and wait", "p4ss&w0rd"),
        ("https://x.example/?token=abc123&amp;page=2", "abc123"),
        ("mysql --password 'p4ss&w0rd' db", "p4ss&w0rd"),
        ('mysql --password "p4ss(w0rd)" db', "p4ss(w0rd)"),
        ("(the password is a1(b2)c3,d4)", "a1(b2)c3,d4"),
        ("The password is p4$&w0rd.", "p4$&w0rd"),
        ("Password=abc123;Server=db.example", "abc123"),
        ("password=ab(c)d1e2f3 ~/notes", "ab(c)d1e2f3"),
        ("connect(user=ann, password=abc123)", "abc123"),
        ("connect(user=ann,password=abc123,db=test1)", "abc123"),
        ("{token:abc123,user:ann}", "abc123"),
        ('{"name":"DB_PASSWORD","value":"hunter2"}', "hunter2"),
        ("machine ftp.example login bob password letmein", "letmein"),
        ("machine ftp.example\nlogin bob\naccount shop\npassword letmein", "letmein"),
        ("machine ftp.example\n\tlogin bob\n\tpassword letmein\nmachine b.example", "letmein"),
        ('{"content": "machine ftp.example\\n  login bob\\n  password letmein\\n"}', "letmein"),
        ("db.example:5432:shop:bob:hunter-2", "hunter-2"),
        ("echo db.example:5432:shop:bob:hunter-2 >> ~/.pgpass", "hunter-2"),
        ('{"result": "     1\\tdb.example:5432:shop:bob:hunter-2\\n"}', "hunter-2"),
        ("localhost:*:*:postgres:letmein\n# end", "letmein"),
        ('{"result": "# pg\\ndb.example:5432:shop:bob:hunter-2\\n"}', "hunter-2"),
        ("What is the password?\nhunter22", "hunter22"),
        ('{"key": "password", "value": {"stringValue": "hunter2"}}', "hunter2"),
        ('{"key": "pwd", "value": {"arrayValue": {"values": [{"stringValue": "hunter2"}]}}}', "hunter2"),
        ('[{"key": "API_TOKEN",\n  "value": "a1(b2)c3"}]', "a1(b2)c3"),
        ('"{\\"name\\": \\"API_KEY\\",\\n  \\"value\\": \\"a1b2c3\\"}"', "a1b2c3"),
        ("env:\n- name: DB_PASSWORD\n  value: hunter2\n- name: PORT\n  value: 80", "hunter2"),
        ("- name: DB_PASSWORD\n  value: 'hunter2'", "hunter2"),
        ("<server><password>hunter(2)</password></server>", "hunter(2)"),
        ('<add key="ApiKey" value="a1b2c3" />', "a1b2c3"),
        ("SMTP_PASS=letmein", "letmein"),
        ("Your new password is: sunshine1", "sunshine1"),
        ("Your new password is:\n\n    hunter22\n", "hunter22"),
        ("The password is now:\n```\nhunter22\n```", "hunter22"),
        ('{"content": "The password is:\\n\\n`hunter22`"}', "hunter22"),
        ("Password: `letmein`", "`letmein`"),
        ("password=`letmein`", "`letmein`"),
        ("password: password", "password"),
        ("DB_PASSWORD=password", "password"),
        ("username: bob password: letmein host: db.example", "letmein"),
        ("The wifi password: letmein, as ever", "letmein"),
        ("The wifi password: letmein (for guests)", "letmein"),
        ("password=letmein and so on", "letmein"),
        ("password: xxxx1y2z3x4", "xxxx1y2z3x4"),
    ],
)
def test_the_value_beside_a_name_is_found(text: str, value: str) -> None:
    """As JSON, Python, YAML, a shell, an address and a header write it."""
    assert shown(text) == [(CREDENTIAL, value)]
    assert may_contain(text.encode())


LOGIN = b64encode(b"bob:hunter-2").decode()
SIGNED = "0a9B8c7D6e5F4g3H2i1J0kLm%3D"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"//registry.example/:_auth={LOGIN}", LOGIN),
        (f"_auth = {LOGIN}\nalways-auth=true", LOGIN),
        (f'{{"auths": {{"registry.example": {{"auth": "{LOGIN}"}}}}}}', LOGIN),
        (f'{{\n  "auth": "{LOGIN}"\n}}', LOGIN),
        (f"https://a.blob.example/c?sv=2022-11-02&sp=r&sig={SIGNED}", SIGNED),
        (f"https://s3.example/k?X-Amz-Expires=9&X-Amz-Signature={'0a9b' * 16}", "0a9b" * 16),
        (f"https://storage.example/o?X-Goog-Signature={'0a9b' * 16}&x=1", "0a9b" * 16),
        (f"https://d.example/x?Expires=1&amp;Signature={SIGNED}&amp;Key-Pair-Id=K1", SIGNED),
        ("Password:\nhunter22", "hunter22"),
        ("Your **password**:\n\n`hunter22`\n", "hunter22"),
        ("Passcode:\n```\nhunter22\n```", "hunter22"),
        ('{"content": "Password:\\nhunter22\\nbye"}', "hunter22"),
        ("password: |\n  hunter22\nuser: bob", "hunter22"),
        ("password: >-\n  hunter22\nuser: bob", "hunter22"),
        ("API key:\na1B2c3D4e5F6g7H8i9J0\n", "a1B2c3D4e5F6g7H8i9J0"),
        ('{"password":\n    "let me in"}', "let me in"),
        ("<password>\n  hunter22\n</password>", "hunter22"),
        ("Das Passwort ist hunter22.", "hunter22"),
        ("RAILS_MASTER_KEY=0a9b8c7d0a9b8c7d", "0a9b8c7d0a9b8c7d"),
        ("PresharedKey = YTFCMmMzRDRlNUY2", "YTFCMmMzRDRlNUY2"),
        ("passcode: hunter22", "hunter22"),
        ("{'password': b'hunter22', 'user': u'bob'}", "hunter22"),
    ],
)
def test_secrets_of_files_and_of_the_next_line_are_found(text: str, value: str) -> None:
    """Logins in base64, what signs an address, lines of `.pgpass`; and what stands below its name."""
    assert shown(text) == [(CREDENTIAL, value)]
    assert may_contain(text.encode())
    assert may_contain(json.dumps(text).encode())


@pytest.mark.parametrize(
    "text",
    [
        'auth: oauth2, auth=basic, "auth": "required", {"auth": {"type": "bearer"}}, auth = Depends(get_user1)',
        f"auth={b64encode(b'no login at all').decode()}, oauth2={LOGIN}",
        "sig = inspect.signature(f1), sig=SIGTERM1234567890, https://x.example/?sig=ABC123",
        '"signature": "function getUserById1(userId: string)", X-Hub-Signature-256: sha256',
        "docker run -p 5432:5432 a1, 12:30:45:678:9012, arn:aws:iam::123456789012:user/bob1",
        "Reset your password:\nclick the link1 we sent.",
        "Password:\nmust have 12 characters, Passwords:\n- Rule1\n- Rule2",
        "password:\n  type: string1\ntoken:\n  max_tokens: 4096\nsecret:\n  - item1",
        "API key:\n1. Open\ntoken:\nhttps://example.org/a1B2c3D4e5F6g7H8i9J0\nsecret:\nsunflower-fields-forever",
        "Password: \nuser@host1:~$\npassword:\nmin_length1:\npassword:\n{\ntoken:\n\n## Step2",
        "elif tt == 'password':\n    password = lexer.get_token()",
        'def __copy__(self) -> "Token":\n    """A shallow copy of the token."""',
        "it costs $5$ and $6$, $2y$ marks bcrypt, {SHA} another, $1$2$3",
        "the master key is kept, shared_key = my_shared_key, a barcode: a1b2c3",
        "src/app.py:5432:10:E501:line1, localhost:5432:5432:tcp:open1, host:5432:db:user:, a:b:c:d:e1",
        "What is the password?\nI do not know it1.\nForgot your password?\nSunflowers",
        "The machine asks for your login and password twice, as the login page and the password form do.",
        "machine ftp.example login bob password $PASSWORD1",
    ],
)
def test_what_only_stands_where_secrets_do_is_none(text: str) -> None:
    """Other values of such names, compilers' messages, sentences, code; no answer, and the next item below a name."""
    assert shown(text) == []


HALF = len(GITHUB) // 2


def broken(by: str) -> str:
    """A key with something in its middle."""
    return GITHUB[:HALF] + by + GITHUB[HALF:]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *(
            (broken(by), "github-token")
            for by in ("\u200b", "\u00ad", "\ufeff", "\x1b[31m", "&shy;", "\u2060")
        ),
        *((broken(by), "github-token") for by in ("\n", "\r\n", "\\\n", "=\n", "\\n", "\n    ", "\n> ")),
        (GITHUB.replace("_", "\\_"), "github-token"),
        (GITHUB.replace("_", "%5F"), "github-token"),
        (GITHUB.replace("_", "%255f"), "github-token"),
        (GITHUB.replace("_", "\\u005f"), "github-token"),
        (GITHUB.replace("_", "\\x5f"), "github-token"),
        (GITHUB.replace("_", "&#95;"), "github-token"),
        ("".join(f"%{ord(sign):02X}" for sign in GITHUB), "github-token"),
        (b64encode(GITHUB.encode()).decode(), "github-token"),
        (b64encode(f"GITHUB_TOKEN={GITHUB}\n".encode()).decode(), "github-token"),
        (urlsafe_b64encode(f">>>{GITHUB}".encode()).decode(), "github-token"),
        (b64encode(b64encode(GITHUB.encode())).decode(), "github-token"),
        (b64encode(f"a~?>{GITHUB}".encode()).decode(), "github-token"),
        (b64encode(f"is it a~{GITHUB}".encode()).decode(), "github-token"),
        (quote(b64encode(f"of {GITHUB}".encode()).decode(), safe=""), "github-token"),
        ("\n".join(wrap(b64encode(PRIVATE_KEY.encode()).decode(), 76)), "private-key"),
        (b64encode(b'{"password": "hunter-2"}').decode(), CREDENTIAL),
    ],
)
@pytest.mark.parametrize("around", ["{}", "it is {} now", "a\n{}\nb", '{{"x": "{}"}}'])
def test_a_key_is_found_in_other_clothes(written: str, kind: str, around: str) -> None:
    """Broken by what nobody sees, by a colour or the end of a line; escaped; in base64 that stands alone."""
    text = around.format(written)
    (found,) = detect(text)
    assert found.kind == kind
    assert found.plain in (GITHUB, PRIVATE_KEY, "hunter-2")
    assert text[: found.start] + text[found.end :] == around.format("")
    assert may_contain(text.encode())
    assert may_contain(json.dumps(text).encode())


@pytest.mark.parametrize(
    "name", ["password%3A%20{}", "%22password%22%3A%22{}%22", "pass\u200bword: {}", "pass\\u0077ord={}"]
)
def test_a_name_is_read_in_other_clothes(name: str) -> None:
    """Escaped, or with something in it that nobody sees."""
    assert shown(name.format("hunter-2")) == [(CREDENTIAL, "hunter-2")]
    assert may_contain(name.format("hunter-2").encode())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{GITHUB}\nNext line", GITHUB),
        (f"{ANTHROPIC}\nThe2nd word", ANTHROPIC),
        (f"{ANTHROPIC}\nDB2_HOST1=x", ANTHROPIC),
        (f"{GITHUB[:HALF]}\n{GITHUB[HALF:]}\nthat was it", f"{GITHUB[:HALF]}\n{GITHUB[HALF:]}"),
        (f"{ANTHROPIC[:50]}\n{ANTHROPIC[50:]}\nThe 2nd", f"{ANTHROPIC[:50]}\n{ANTHROPIC[50:]}"),
    ],
)
def test_a_key_ends_where_the_next_line_is_none_of_it(text: str, found: str) -> None:
    """A word, or the name of another value, goes on in no key."""
    assert [word for _, word in shown(text)] == [found]


@pytest.mark.parametrize(
    "text",
    [
        "AKIA\nis how they begin, ghp_\nxxxxxxxx, sk-\nthe rest",
        "the word\u200bbreak and soft\u00adhyphen, \x1b[31mred\x1b[0m, a\\_name, 50%20off, R&amp;D, \U0001f469\u200d\U0001f467",
        "https://x.example/?q=hello%20world%2C%20token%20and%20password&n=1",
        b64encode(b"The quick brown fox jumps over the lazy dog, and the token is lost.").decode(),
        b64encode(bytes(range(256))).decode(),
        f"sha512-{b64encode(bytes(range(7, 71))).decode()}",
    ],
)
def test_clothes_make_no_secret(text: str) -> None:
    """What is escaped, encoded or broken over two lines, and harmless."""
    assert shown(text) == []


@pytest.mark.parametrize(
    "command",
    [
        "curl -u bob:{} https://api.example",
        "/usr/bin/curl -sSu bob:{} https://api.example",
        "curl -s -X POST -ubob:{} https://api.example",
        "curl https://api.example?a=1&b=2 --user bob:{}",
        "curl --proxy-user=bob:{} https://api.example",
        "curl \\\n  -H 'Accept: text/plain' \\\n  -u 'bob:{}' https://api.example",
        'run `curl -u "bob:{}" https://api.example`',
        '{{"cmd": "curl -u bob:{}", "timeout": 9}}',
        "(curl -u bob:{})",
        "mysql -u root -p{} shop",
        "mysqldump -uroot -p'{}' shop > dump.sql",
        "mariadb-dump -p{}",
        "mongosh -u bob -p {} --authenticationDatabase admin",
        "sshpass -p {} ssh host.example",
        "sshpass -p'{}' ssh host.example",
        "redis-cli -h cache.example -a {} ping",
        "docker login -u bob -p {} registry.example",
    ],
)
def test_a_password_that_a_command_takes_behind_a_short_option_is_found(command: str) -> None:
    """Programs differ in which option that is, and whether a blank stands before it."""
    text = command.format("hunter-2")
    assert shown(text) == [(CREDENTIAL, "hunter-2")]
    assert may_contain(text.encode())


def test_a_password_in_quotes_may_hold_what_ends_another() -> None:
    """A blank, a bracket, a semicolon."""
    assert shown("curl -u 'bob:let me; in' x") == [(CREDENTIAL, "let me; in")]
    assert shown('mysql -p"let(me)|in" x') == [(CREDENTIAL, "let(me)|in")]


@pytest.mark.parametrize(
    "text",
    [
        *("curl -u bob https://api.example", "curl -u bob: https://api.example", "curl -u 'bob:' x"),
        *(
            "curl -u user:password x",
            "curl -u username:your_password.",
            "curl -u <user>:<password> x",
            'curl -u "$USER:$PASSWORD" x',
        ),
        *("curl -u bob:$PASSWORD x", "curl -u bob:$(cat pw) x", "curl -u USER:YOUR_PASSWORD x"),
        "curl x | docker run -u 1000:10000 app; curl x && docker run -u app:apps x",
        "curl x\ndocker run -u app:apps x",
        *("mysql -u root -p shop", "mysql -u root -p", "mysql -p${PASSWORD}", "mysql -pPASSWORD"),
        "docker run --name db mysql -p3306:3306, docker run mysql -p127.0.0.1:3306:3306",
        *("mysql -P 33061", "mysqldump --port 33061", "mkdir -p/srv/data", "ssh -p 22222 host.example"),
        *("mongosh -u bob -p --host db.example", "docker login -u bob --password-stdin", "redis-cli -a $PW1"),
        "sshpass -e ssh host.example, sshpass -f /run/password ssh host.example",
        "my-curl -u bob:hunter2 x",
    ],
)
def test_commands_without_a_password_are_left_alone(text: str) -> None:
    """A password that is asked for, comes from elsewhere, or is a mere word for one; another option of that name."""
    assert shown(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Reset your password: click the link.",
        "Enter the password: press return.",
        "To change your password: open Settings, then Security.",
        "Password: must be at least 12 characters long",
        "Wrong password: please try again.",
        "Passphrase: Enter several words",
        "Passwort: bitte zur\u00fccksetzen",
        "Change password: Settings > Security, reset password: Settings \u2192 Security",
        "Password: *required*, token: `YOUR_TOKEN`, password: `$PASSWORD1`",
        "user.password = password; connect(password=password, token = token)",
        "password = self.password, token: req.headers.authorization, password: var.db_password",
        "headers: { Authorization: `Bearer ${token}` }, PASSWORD=`cat password1.txt`",
        "secret: db-credentials, existingSecret: my_db_secret, token: Next-Page",
        "private key: ~/.ssh/id_rsa, signing_key=../keys/key1.pem, api_key: C:\\keys\\key1",
        "password: !secret wifi_password, password: !vault |",
        "API_KEY=YOUR_API_KEY TOKEN=TOKEN password: your-password-here password=DB_PASSWORD",
        "OPENAI_API_KEY=sk-xxxx OPENAI_API_KEY='sk-...' TOKEN: ghp_****a1b2 SECRET=sk-\u2026a1b2",
        f"sk-proj-{'x' * 32} ghp_{'x' * 36} sk-ant-api03-{'X' * 20} AKIA{'X' * 16} glpat-{'x' * 20}",
        f"-----BEGIN PRIVATE KEY-----\n{'x' * 20}\n-----END PRIVATE KEY-----",
        "Authorization: Bearer YOUR_TOKEN, Authorization: Basic base64(user:password)",
        "https://user:password@host.example postgres://USER:PASSWORD@HOST:5432/DB x://bob:your_password@h.example",
        "https://username:password@host.example, https://USER:PASSWORD@host.example",
        "if (password>limit) return <token>cats</token>, <password></password>",
    ],
)
def test_what_manuals_say_of_secrets_is_none(text: str) -> None:
    """Sentences after a colon, names of other things, and what stands in for a key or a password."""
    assert shown(text) == []


ROW = "a1B2c3D4e5F6g7H8"
"""What a key has, and no word, date or UUID."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"The API key is {ROW}.", ROW),
        (f"the access token was `{ROW}-x_y`, I think", f"{ROW}-x_y"),
        (f"Your **client secret** is now: **{ROW}**!", ROW),
        (f"The token is {ROW.lower()}{ROW.lower()}.", ROW.lower() * 2),
        (f"The passphrase is “x.{ROW}/+==”", f"x.{ROW}/+=="),
        (f"The encryption key is:\n\n    {ROW}\n", ROW),
        (f"The private key is:\n```\n{ROW}\n```", ROW),
        (f'{{"content": "The secret is:\\n\\n`{ROW}`"}}', ROW),
    ],
)
def test_a_secret_that_is_told_in_a_sentence_is_found(text: str, value: str) -> None:
    """Where it has letters and digits in a long row; and in the JSON of a trace, too."""
    assert shown(text) == [(CREDENTIAL, value)]
    assert may_contain(text.encode())
    assert may_contain(json.dumps(text).encode())


@pytest.mark.parametrize(
    "text",
    [
        "The token is invalid, the secret is patience, and the API key is missing",
        f"the key is under the mat, and it is {ROW}",
        "The token is expired since 2026-01-01T00:00:00Z",
        "the access token is supercalifragilisticexpialidocious",
        "The API key is documented_in_chapter_12_of_the_manual",
        "the token is claude-sonnet-4-6-20260115, the secret was 1234567890123456789012",
        "The token is 7978020f-5251-4b5a-b1b3-41ab0f2b0dfe",
        "the token is in git 3f2a9c81b7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2",
        f"The token is https://example.org/{ROW}",
        f"The tokens are {ROW}, the secretary is {ROW}",
        "The API key is ${API_KEY_OF_THE_TEST_SYSTEM_1}",
        "sk-fading-circle-spinner-12 sk-SK task-a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h8",
        "Passwort: optional",
    ],
)
def test_what_is_told_of_a_secret_is_none(text: str) -> None:
    """Words, dates, UUIDs, numbers, addresses, and names of other things."""
    assert shown(text) == []


NAMES = (
    *("password", "passwort", "passwd", "passphrase", "pwd", "secret", "token", "authorization"),
    *(f"{whose}{between}key" for between in ("", "-", "_") for whose in ("api", "access", "account")),
    *(f"{whose}_key" for whose in ("encryption", "private", "secret", "signing")),
)


@given(
    before=st.text(alphabet="ab _-\n\"'", max_size=20),
    name=st.sampled_from([spelled for name in NAMES for spelled in (name, name.upper(), name.title())]),
    after=st.builds(
        "{}{}{}{}".format,
        *(st.text("\\", max_size=8), st.sampled_from(["", '"', "'"]), st.text(" \t", max_size=8)),
        st.sampled_from(["=", ":", ":=", "=>"]),
    ),
)
def test_each_name_is_seen_with_each_sign_of_assignment(before: str, name: str, after: str) -> None:
    """Whatever stands before it, in any case, escaped up to eight times, with blanks before the sign."""
    assert (CREDENTIAL, "a1b2c3d4") in shown(f"{before}{name}{after} a1b2c3d4")


@pytest.mark.parametrize(
    "text",
    [
        "the token is here, and the secret too",
        '{"tokens": 12, "secretly": "x", "passwords": [], "api_keys": 1}',
        '{"key": "a", "turkey": "b", "x_key": "c"}',
        "run-20261122T045600Z-bcdfa6e6 toolu_012zIERkZuWD1RgPXFDRmONk3A",
        "requires_capabilities output-matches-format-of-lists",
        "the login form asks for a password twice",
    ],
)
def test_everyday_texts_pass_the_sieve(text: str) -> None:
    """Names without a sign, other keys, ids: these are in every recording, and none is looked at twice."""
    assert not may_contain(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the token: is a word",
        *(
            f"Password: {word.title()}"
            for word in ("required", "optional", "string", "null", "none", "true", "false", "unknown")
        ),
        "password: redacted",
        "password: abc",
        "Cookie: a=b; sid=a1b2c3",
        "input_tokens: 12000",
        '"token": "cats"',
        "secret: 4096",
        "password: ${DB_PASSWORD}",
        "password: <yours>",
        "password: ****",
        "password: ••••••••",
        "PWD=/workspace/group",
        "Your password is wrong, the password was reset; the password is 12-20 characters long",
        "The password is sha256-hashed, the token is RS256",
        "The password is ${DB_PASSWORD1}, or $PASSWORD2 in tests",
        "curl --key client1.pem; docker build --secret id=npmrc1",
        "the --password flag, --password ${DB_PASSWORD1}, --token <token1>, x-token a1b2c3d4",
        '"password": ""',
        "{'password': '', 'user': 'ann', 'token': ''}",
        "AKIA is how they begin",
        "Bearer Authentication-is-needed-here, the bearer of-all-this-long-hyphenated-word",
        "heyJude.mp3",
        "SUPPORTS_SCHEDULER_CONTEXT_AND_MORE",
        "https://www.example.org/News/2026/A-Long-Title-With-20-Words-In-It",
        "0123456789abcdef0123456789abcdef",
        "https://example.org/a:b/@ann",
        "https://user:${PASSWORD}@example.org",
        "[redacted:credential:01234567]",
        "PWD=/workspace/agent",
        "OLDPWD=/srv/ann",
        '{"pwd": "C:\\\\work"}',
        "const token = getToken();",
        "token = response.json()['token']",
        "token = sign(key1, data)",
        "token = keys[name1].value",
        "TOKEN=$(cat token1)",
        "token: [a1, b2]",
        "api_key=os.environ['API_KEY']",
        "password: process.env.DB_PASSWORD",
        "password=process.env.DB_PASSWORD1",
        "--password TEXT  what you know",
        "--token must be given",
        "pg_dump --no-password shop1, ['pg_dump', '--no-password', 'shop1']",
        "['--password', '--user'], [\"--token\", \"$TOKEN1\"], ['--password-stdin', 'a1b2c3'], ['--token', 'cats']",
        "option('--password', help='what1'), option('--password', '-p', 'db_password')",
        "- --password\n- --verbose1\n\n- --token\n\n- a1b2c3",
        "a cookie: chocolate=yes",
        "the hf_transfer_1_download_model_weights_quickly package",
        "first_pass: a draft of the text",
        '{"name": "DB_PASSWORD", "value": "${DB_PASSWORD1}"}, {"name": "TOKEN", "value": "cats"}',
        '{"key": "password", "value": {"kvlistValue": {"values": []}}}',
        '{"key": "token", "value": {"stringValue": "cats"}}, {"key": "password", "value": {"boolValue": true}}',
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db1, key: pass1}",
        "git 3f2a9c81b7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2 of 7978020f-5251-4b5a-b1b3-41ab0f2b0dfe",
        "https://news.example.com/2026/11/21/lab-a-ships-model-x-with-2m-tokens-for-everyone",
        "claude-sonnet-4-6-20260115 gpt-5.2-mini-2026-01-01 order 100234-5567-AC12",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    """Words, numbers, variables, hashes, addresses of pages."""
    assert shown(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://bob:hunter2@host.example/x", [(BASIC_AUTH, "hunter2")]),
        ("postgres://bob:p!w$x@db.example/x", [(BASIC_AUTH, "p!w$x")]),
        (
            "amqp://bob:password@mq.example, redis://superuser:secret@h.example",
            [(BASIC_AUTH, "password"), (BASIC_AUTH, "secret")],
        ),
        ("run curl -u user:pw x, or mysql -psecret.", [(CREDENTIAL, "pw"), (CREDENTIAL, "secret")]),
        (f"token={GITHUB}", [("github-token", GITHUB)]),
        (f"password=x-{AWS}-x", [(CREDENTIAL, f"x-{AWS}-x")]),
        (f"{AWS} {GITHUB}", [("aws-access-key", AWS), ("github-token", GITHUB)]),
        (f"x{PRIVATE_KEY}\n{PRIVATE_KEY}", [("private-key", PRIVATE_KEY)] * 2),
        (f"{TWICE_BEGUN}\n{PRIVATE_KEY}", [("private-key", TWICE_BEGUN), ("private-key", PRIVATE_KEY)]),
        (f"password: x{PRIVATE_KEY}", [(CREDENTIAL, f"x{PRIVATE_KEY}")]),
        (PRIVATE_KEY[:60] + " and so on", [("private-key", PRIVATE_KEY[:60] + " and so on")]),
        (PRIVATE_KEY.replace("\n", "\\n"), [("private-key", PRIVATE_KEY.replace("\n", "\\n"))]),
        (f"{JWT}.", [("jwt", JWT)]),
        (f"{UNSIGNED_JWT}.", [("jwt", UNSIGNED_JWT)]),
        (f"{ENCRYPTED_JWT} and", [("jwt", ENCRYPTED_JWT)]),
        (f"{GITHUB}.git", [("github-token", GITHUB)]),
        (f"key {ANTHROPIC}, and", [("anthropic-key", ANTHROPIC)]),
        ("Cookie: a=b; sid=a1b2c3d", [(COOKIE, "a=b; sid=a1b2c3d")]),
        ("curl -H 'Cookie: theme=dark; sid=a1b2c3d4e5'", [(COOKIE, "theme=dark; sid=a1b2c3d4e5")]),
        ('{"Set-Cookie": "sid=a1b2c3d4e5; Path=/; Secure"}', [(COOKIE, "sid=a1b2c3d4e5; Path=/; Secure")]),
        (f"{FORMS['slack-token'].lower()} in small letters", [("slack-token", FORMS["slack-token"].lower())]),
        (
            "tool --db-password hunter22 --api-key 'a1b2c3d4' x",
            [(CREDENTIAL, "hunter22"), (CREDENTIAL, "a1b2c3d4")],
        ),
        ("--token a1b2c3d4", [(CREDENTIAL, "a1b2c3d4")]),
        ("SMTP_PASS=hunter22", [(CREDENTIAL, "hunter22")]),
    ],
)
def test_where_one_ends_and_another_begins(text: str, found: list[tuple[str, str]]) -> None:
    """Of what overlaps the outermost is told; a key without an end goes to the end of the text."""
    assert shown(text) == found


def test_names_of_secrets() -> None:
    """Keys that say it of themselves, in every spelling."""
    said = (
        "password",
        "DB_PASSWORD",
        "apiKey",
        "api-key",
        "accessToken",
        "client_secret",
        "Authorization",
        "pwd",
        "Set-Cookie",
    )
    unsaid = ("tokens", "token_usage", "key", "secretary", "password_hint", "author")
    assert [name for name in (*said, *NAMES, *unsaid) if names_secret(name)] == [*said, *NAMES]


@pytest.mark.parametrize(
    ("key", "text", "is_one"),
    [
        ("password", "y", True),
        ("password", " /etc/x ", True),
        ("OLDPWD", " /etc/x ", False),
        ("pwd", "~/x", False),
        ("pwd", "x/y", True),
        ("password", "", False),
        ("password", "  ", False),
        ("password", " ${TOKEN} ", False),
    ],
)
def test_what_can_be_the_value_of_a_secret(key: str, text: str, is_one: bool) -> None:
    """Anything but a blank, a variable, and, where shells keep it, a folder."""
    assert is_value(text, key) == is_one


@pytest.mark.parametrize("value", ["${TOKEN}", "<token>", "YOUR_TOKEN", "sk-xxxx"])
def test_a_scheme_makes_no_secret_of_what_stands_in_for_one(value: str) -> None:
    """As the header of a request, which is data of its own; behind the scheme a token is one."""
    for scheme in ("Bearer", "Basic", "token"):
        assert not is_secret("Authorization", f"{scheme} {value}")
        assert is_secret("Authorization", f"{scheme} a1b2c3")


def test_words_of_everyday_language_are_no_secrets_but_for_passwords() -> None:
    """`token: cats` says nothing; `password: letmein` does."""
    for name in ("password", "db_passwd", "PASSPHRASE"):
        assert is_secret(name, "letmein")
        assert not is_secret(name, "abc")
        assert not is_secret(name, " no  ")
        assert not is_secret(name, " True ")
    assert is_secret("password", "pass")
    assert not is_secret("token", "Letmein")
    assert not is_secret("token", "LETMEIN")
    assert is_secret("token", "LetMeIn")
    assert not is_secret("token", "abcdefghijklmnopqrs")
    assert not is_secret("token", "letmein")
    assert not is_secret("password", "[hidden]")
    assert not is_secret("password", "(not shown)")
    assert is_secret("password", "(hunter2)")
    assert not is_secret("token", "12.5")
    assert is_secret("token", "letmein1")
    assert is_secret("token", "abcdefghijklmnopqrst")


HOSTILE: dict[str, str] = {
    "jwt": "eyJ" * 100_000,
    "jwts": "eyJaaaaaaaaaaaaaaaaaaaa." * 15_000,
    "openai": "sk-aA1" * 60_000 + "T3Blbk" + "FJ",
    "slack": "xoxb-1-" * 50_000,
    "gitlab": "glagent-A" * 40_000,
    "mailchimp": "0a" * 150_000 + "-us1",
    "telegram": "12345678:A" * 30_000,
    "discord": "MAAAAAAAAAAAAAAAAAAAAAAA.AAAAAA." * 10_000,
    "private key": "BEGIN RSA " + "PRIVATE KEY A1" + "a" * 20 + "\n" + "BEGIN RSA PRIVATE KEY " * 15_000,
    "basic auth": "://a:" * 60_000 + "@",
    "assignments": "password='" * 30_000,
    "cookies": "cookie: a=b; " * 25_000,
    "parts of a cookie": "cookie: " + "a=b; " * 60_000,
    "dashes": "--" * 150_000 + "token x",
    "flags": " --aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 9_000 + " --token x",
    "service keys": "hf_a" * 75_000 + "1",
    "words of service keys": "hf_" + " hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 8_000,
    "escaped assignments": 'token=\\"' * 40_000,
    "programs": "curl " * 60_000,
    "commands": "curl -u " * 37_000,
    "logins": "machine a login b password " * 11_000,
    "machines": "machine a\n" * 30_000 + " login b password c",
    "questions": "password?\na1b2c3\n" * 18_000,
    "lines of pgpass": ":5432:a:b" * 33_000,
    "lines of commands": "curl \\\n" * 40_000,
    "blanks in commands": "mysql " + " " * 300_000,
    "elements": "password>" * 33_000,
    "words after colons": "password: a " * 25_000,
    "backslashes": "password" + "\\" * 300_000,
    "an open quote": 'password="' + "a\\" * 150_000,
    "keys": (AWS + " ") * 15_000,
    "sentences": "password is " * 25_000,
    "secrets in sentences": "token is a1-" * 25_000,
    "a secret without an end": "token is " + "a1" * 150_000,
    "a word for a secret": "token is " + "a-" * 150_000,
    "signs before a secret": ("token is" + "\\n" * 9) * 11_000,
    "keys of several services": "sk-" + "a" * 100_000 + " sk-a1b2" * 20_000,
    "one long value": "password is " + "1" * 300_000,
    "parts of flags": "--a-" * 75_000 + "token a",
    "values of flags": "--token a1" * 30_000,
    "values without quotes": "token=a1," * 33_000,
    "separators": "token=a1" + "&a" * 150_000,
    "arguments": '"--token","' * 25_000,
    "lines of arguments": "--token\n" * 37_000,
    "blanks of arguments": '"--token",' + " " * 150_000 + "\\n" * 75_000,
    "wrapped values": 'token","value":{"arrayValue":{"' * 9_000,
    "percent signs": "%25" * 100_000,
    "letters in percent": "%70%61%73%73%77%6f%72%64%3d%61%31%62%32" * 9_000,
    "invisible": "\u200b" * 300_000,
    "invisible between": "a\u200b1" * 100_000,
    "escapes": "\\u005f" * 50_000,
    "ampersands": "&amp;" * 60_000 + "quot;",
    "colours": "\x1b[" * 150_000,
    "rows": (b64encode(b"the quick brown fox").decode() + " ") * 11_000,
    "one row": b64encode(b"password=a1b2c3d4 " * 12_000).decode(),
    "rows in rows": b64encode(b64encode(b64encode(b64encode(b"password=a1 " * 6_000)))).decode(),
    "lines": "a1B2c3D4e5F6\n" * 23_000,
    "lines of a key": "hf_" + "a1B2c3D4e5F6g7H8i9J0\n" * 14_000,
    "keys over lines": f"{GITHUB[:20]}\n{GITHUB[20:]}\n" * 7_000,
    "short lines": "a\n" * 150_000 + "eyJ\n" * 1_000,
    "values below": "password:\n" * 30_000,
    "blanks below": "password:\n\n\n\n" * 20_000,
    "keys of logins": "auth=" * 60_000,
    "a long login": "auth=" + "A" * 300_000,
    "hashes": "$2y$" * 75_000,
    "a long hash": "$6$" + "a$" * 150_000,
    "signatures": "?sig=" * 60_000,
    "private keys": "-----BEGIN PRIVATE KEY-----" * 11_000,
    "blanks in an element": "password>" + " " * 300_000,
    "entries": "token" + "\\n" * 150_000 + 'token","value":' * 10_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_no_text_takes_long(text: str) -> None:
    """300 kB made to be slow take less than a second: no pattern looks twice."""
    start = time.process_time()
    detect(text)
    assert time.process_time() - start < 1.0


WRITTEN = [
    *FORMS.values(),
    *(f"{word}{BODY}" for form in KNOWN_FORMS for word in form.words),
    *(f"{word}{HEXADECIMAL}" for form in KNOWN_FORMS for word in form.words),
    *(
        "password=a1b2c3d4",
        "--token a1b2c3d4",
        "Cookie: sid=a1B2c3D4e5F6g7H8",
        "https://bob:pw123@host.example",
    ),
    *(
        "curl -u bob:pw123 x",
        "h:5432:d:bob:pw123 ",
        "machine a login bob password letmein",
        "?sig=a1B2c3D4e5F6g7H8",
    ),
]
ENDS_OF_LINES = ["\n", "\r\n", "\\n", "\n  ", "=\n", "\u200b", "\n> "]


@given(
    text=st.text(),
    values=st.lists(st.sampled_from(WRITTEN), max_size=3),
    cut=st.integers(0, 60),
    end=st.sampled_from(["", *ENDS_OF_LINES]),
)
def test_what_is_found_is_in_order_and_apart(text: str, values: list[str], cut: int, end: str) -> None:
    """Findings lie inside the text, in order, without overlaps; and a text that cannot hold one holds none."""
    text = text.join(["", *(value[:cut] + end + value[cut:] for value in values), ""])
    last = 0
    for each in detect(text):
        assert last <= each.start < each.end <= len(text)
        last = each.end
    assert may_contain(text.encode(errors="replace")) or not detect(text)


SEPARATORS = [
    "=",
    ": ",
    '": "',
    "='",
    ">",
    " is ",
    " lautet: ",
    "?\n",
    ":\n",
    ", value: ",
    '","value":{"stringValue":"',
    " ",
    '","',
]


@given(
    text=st.text(),
    values=st.lists(
        st.one_of(
            st.sampled_from(WRITTEN),
            st.tuples(
                st.sampled_from(["--token", "_PASS", "PGPASSWORD", "API key", "Cookie", "_auth", *NAMES]),
                st.sampled_from(SEPARATORS),
                st.sampled_from(["a1b2c3d4e5f6g7h8", "sid=a1B2c3D4e5F6g7H8", "Ym9iOnB3MTIz"]),
            ).map("".join),
        ),
        max_size=3,
    ),
)
def test_the_quick_look_denies_nothing_that_a_form_finds(text: str, values: list[str]) -> None:
    """It errs towards yes alone, for every line of the tables: checked on what the patterns find without it."""
    text = text.join(["", *values, ""])
    small = text.encode(errors="replace").lower()
    for group in GROUPS:
        assert group.may_match(small) or not any(any(form.find(text)) for form in group.forms)
    assert may_contain(text.encode(errors="replace")) or not any(keys_in(text))
