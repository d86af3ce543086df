"""SHA-256 without OpenSSL, whose loading takes a tenth of a small run."""

from functools import cache
from importlib import import_module
from typing import Any, BinaryIO


def sha256(data: bytes) -> str:
    """The digest in hexadecimal, as `sha256sum` prints it."""
    digest: str = _algorithm()(data).hexdigest()
    return digest


def sha256_of(file: BinaryIO) -> str:
    """The digest of the rest of an open file, which is not held in memory."""
    digest = _algorithm()()
    while part := file.read(1 << 20):
        digest.update(part)
    told: str = digest.hexdigest()
    return told


@cache
def _algorithm() -> Any:
    """What CPython brings for builds without OpenSSL (`_sha2` from 3.12 on, `_sha256` before); else hashlib."""
    for module in ("_sha2", "_sha256"):
        try:
            return import_module(module).sha256
        except ImportError:
            continue
    return import_module("hashlib").sha256
