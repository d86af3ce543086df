"""A client of yaml-language-server, as far as the tests need one: it asks as an editor does."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

CURSOR = "‸"
"""Marks the place in a text that is asked about."""

_SECONDS = 120
"""How long a server may run: a question that it never answers is then an error."""

_CAPABILITIES = {
    "workspace": {"configuration": True},
    "textDocument": {"completion": {"completionItem": {"snippetSupport": True}}},
}
_SETTINGS = {"yaml": {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}}


class LanguageServer:
    """A running server. Texts are opened as if they were files in `folder`, from where their `$schema` is found."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self._to = cast("IO[bytes]", process.stdin)
        self._from = cast("IO[bytes]", process.stdout)
        self._numbers = count(1)
        self._folder = folder
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}
        self._ask(
            "initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": _CAPABILITIES}
        )
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": _SETTINGS})

    def remarks(self, texts: Sequence[str]) -> list[list[str]]:
        """What is said of each text: `line: message`, counted from 1."""
        addresses = [self._open(text) for text in texts]
        while not self._diagnostics.keys() >= set(addresses):
            self._read()
        return [
            [
                f"{each['range']['start']['line'] + 1}: {each['message']}"
                for each in self._diagnostics[address]
            ]
            for address in addresses
        ]

    def offered(self, text: str) -> dict[str, str]:
        """What can be written at the cursor, and what would be inserted."""
        found = self._at("completion", text)
        items = found["items"] if isinstance(found, dict) else found
        return {item["label"]: item.get("insertText", "") for item in items}

    def shown(self, text: str) -> str:
        """What is shown of the word at the cursor."""
        found = self._at("hover", text)
        return str(found["contents"]["value"]) if found else ""

    def _at(self, request: str, text: str) -> Any:
        before = text[: text.index(CURSOR)]
        place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        document = {"uri": self._open(text.replace(CURSOR, ""))}
        return self._ask(f"textDocument/{request}", {"textDocument": document, "position": place})

    def _open(self, text: str) -> str:
        address = (self._folder / f"{next(self._numbers)}.test.yaml").as_uri()
        document = {"uri": address, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return address

    def _ask(self, method: str, parameters: Any) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while (message := self._read()).get("id") != number or "method" in message:
            pass
        return message["result"]

    def _tell(self, method: str, parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._to.flush()

    def _read(self) -> dict[str, Any]:
        """The next message; questions of the server are answered, and its diagnostics kept."""
        length = 0
        while line := self._from.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self._from.read(length))
        match message.get("method"):
            case "workspace/configuration":
                items = message["params"]["items"]
                self._send(
                    {"id": message["id"], "result": [_SETTINGS.get(item["section"]) for item in items]}
                )
            case "textDocument/publishDiagnostics":
                self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            case str() if "id" in message:
                self._send({"id": message["id"], "result": None})
        return message


@contextmanager
def serving(program: str, folder: Path) -> Iterator[LanguageServer]:
    """The program as a server, until the end of the block."""
    with subprocess.Popen(
        [program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        deadline = Timer(_SECONDS, process.kill)
        deadline.start()
        try:
            yield LanguageServer(process, folder)
        finally:
            deadline.cancel()
            process.kill()
