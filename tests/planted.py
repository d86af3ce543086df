"""Secrets to plant: made from pieces when they are needed, so that no file of the project holds one."""

import base64
import json

AWS = "AKIA" + "7Q3ZK5X2" + "WN4VB6TM"
GITHUB = "ghp" + "_" + "aB3dE5gH7jK9" * 3
ANTHROPIC = "sk-" + "ant-" + "api03-" + "Zx8Yv6_Ut4Sr2-Qp" * 5
EMAIL = "ann.planted" + "@" + "mail.example.org"
PASSWORD = "tr0ub4dor" + "&3 and more"


def _part(data: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


JWT = ".".join(
    (_part({"alg": "HS256", "typ": "JWT"}), _part({"sub": "1234567890"}), "dBjftJeZ4CVP-mB92K27uhbU")
)
PRIVATE_KEY = "\n".join(
    (
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA1b2c3D4e5F6g7H8",
        "a1B2c3D4",
        "-----END RSA PRIVATE KEY-----",
    )
)

PLANTED = {
    "aws-access-key": AWS,
    "github-token": GITHUB,
    "anthropic-key": ANTHROPIC,
    "jwt": JWT,
    "credential": PASSWORD,
    "email": EMAIL,
}
"""By the kind that each is found as; the credential beside a key `password`."""

MORE = {
    "azure-storage-key": "AccountKey=" + "a1B2" * 21 + "ab==",
    "bearer-token": "Bearer " + "abc123DEF456ghi789jkl012",
    "discord-token": "M" + "TA1B2c3D4e5F6g7H8i9J0a1" + ".GaBcDe." + "a1B2c3D4e5F6g7H8i9J0abcdef1",
    "gitlab-token": "glpat" + "-a1B2c3D4e5F6g7H8i9J0",
    "google-key": "AIza" + "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H",
    "mailchimp-key": "0123456789abcdef" * 2 + "-us12",
    "npm-token": "npm" + "_" + "a1B2c3D4e5F6" * 3,
    "openai-key": "sk-" + "a1B2c3D4e5F6g7H8i9J0" + "T3Blbk" + "FJ" + "a1B2c3D4e5F6g7H8i9J0",
    "password-hash": "$" + "2y$05$" + "c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC",
    "private-key": PRIVATE_KEY,
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + "a1B2" * 20,
    "sendgrid-key": "SG" + ".a1B2c3D4e5F6g7H8i9J0ab." + "a1B2c3D4e5F6g7H8i9J0abcdefghijklmnopqrstuvw",
    "service-key": "hf" + "_" + "a1B2c3D4e5F6g7H8i9J0" + "abcdefghijklmn",
    "slack-token": "xoxb" + "-123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "square-secret": "sq0csp" + "-" + "a1B2c3D4e5" * 4 + "abc",
    "stripe-key": "sk_" + "live_" + "a1B2c3D4e5F6g7H8i9J0a1B2" + "EXTRA",
    "telegram-token": "123456789" + ":" + "AAF1b2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g",
    "twilio-key": "AC" + "0123456789abcdef" * 2,
}
"""One more of each kind whose form is known."""
