"""A real Kurabito server with nothing in it, which can be taken down and started again."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from kurabito.conformance.errors import ScenarioStuck
from kurabito.conformance.subject import ExaminedProcess

LEASE_SECONDS: Final = 4.0
"""Short, so that nothing has to be waited for that is longer than needed."""
_HEARTBEAT_SECONDS: Final = 0.5
_START_SECONDS: Final = 120.0
_LOOK_EVERY: Final = 0.05


class ExaminationServer:
    """`kurabito serve` on a port of its own, without a data plane and a downloader."""

    def __init__(self, state: Path) -> None:
        self.key = secrets.token_urlsafe(24)
        self.port = _free_port()
        self._state = state
        self._process: ExaminedProcess | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "kurabito.cli", "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        told = {
            "STATE": str(self._state),
            "API_KEY": self.key,
            "LEASE_SECONDS": f"{LEASE_SECONDS:g}",
            "HEARTBEAT_SECONDS": f"{_HEARTBEAT_SECONDS:g}",
        }
        self._state.mkdir(parents=True, exist_ok=True)
        self._process = ExaminedProcess(
            [*command, "--no-dataplane", "--no-downloader"], told, self._state / "server.log"
        )
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.ask("GET", "/api/v1/tasks/counts")
            except OSError:
                if self._process.has_ended or time.monotonic() > until:
                    raise ScenarioStuck("SERVER-1", f"the server did not start: {self._process.output}") from None
                time.sleep(_LOOK_EVERY)
            else:
                return

    def stop(self) -> None:
        """Take it down."""
        if self._process is not None:
            self._process.ask_to_end()
            if self._process.wait(10.0) is None:
                self._process.kill()
            self._process = None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the server itself, past the gateway; raises OSError when it does not answer, or refuses."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data,
            {"X-Api-Key": self.key, "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - on this machine
            return json.load(answer)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
