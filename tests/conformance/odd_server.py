"""A server over stdio that misbehaves as its first argument says; it greets and lists as others do.

`flood-http` speaks HTTP instead, on a free port that it prints first.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOOLS = ("pay_bill", "transfer")


def greeting(method: str) -> dict[str, Any]:
    """What every server answers that can be asked for its tools."""
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
    return {"tools": [{"name": name, "inputSchema": {}} for name in TOOLS], "nextCursor": None}


def requests() -> Iterator[dict[str, Any]]:
    """The messages; {} for one that is no JSON."""
    for line in sys.stdin.buffer:
        try:
            yield json.loads(line)
        except ValueError:
            yield {}


def answer(number: Any, result: dict[str, Any]) -> None:
    """Write an answer."""
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)


def served(kind: str) -> None:
    """Greet, list, and at a call do what the kind says."""
    for request in requests():
        method = request.get("method")
        if method in ("initialize", "tools/list"):
            answer(request["id"], greeting(method))
        elif method == "ping":
            answer(request["id"], {})
        elif method is None or (method == "tools/call" and kind == "dies"):
            sys.exit("the hamster has died")
        elif method == "tools/call" and kind != "mute":
            text = json.dumps(request["params"]["arguments"])
            answer(request["id"], {"content": [{"type": "text", "text": text}]})


def flood_http() -> None:
    """Answer one request without an end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        connection, _ = listening.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)


def main(kind: str) -> None:
    """Misbehave."""
    if kind == "once":
        marker = Path(sys.argv[2])
        if marker.exists():
            sys.exit("there can be only one")
        marker.touch()
    if kind == "flood-http":
        flood_http()
    if kind == "garbage":
        for _ in sys.stdin:
            print("garbage \N{SNOWMAN} {]", [[]], flush=True)
    while kind == "lines-for-ever":
        print("[1, 2, 3]")
    while kind == "one-line-for-ever":
        print("[", end="")
    if kind == "silent":
        sys.stdin.read()
    served("dies" if kind == "once" else kind)


if __name__ == "__main__":
    main(sys.argv[1])
