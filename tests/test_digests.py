"""SHA-256 without OpenSSL is SHA-256."""

import builtins
from hashlib import sha256
from typing import Any

import pytest

from agenteval.reading import documents


@pytest.mark.parametrize("data", [b"", b"abc", bytes(range(256)) * 1000])
@pytest.mark.parametrize("missing", [(), ("_sha2", "_sha256")])
def test_the_digest_is_that_of_hashlib(
    data: bytes, missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever module it is made."""

    def import_module(name: str) -> Any:
        if name in missing:
            raise ImportError(name)
        return builtins.__import__(name)

    monkeypatch.setattr(documents, "import_module", import_module)
    documents._algorithm.cache_clear()
    assert documents.sha256(data) == sha256(data).hexdigest()
    documents._algorithm.cache_clear()
