"""Stands between a worker and the server: notes each exchange, and delays, drops or changes what a scenario says."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from kurabito.conformance.workers.exchanges import WordExchange

_TIMEOUT: Final = 60.0
# What belongs to one connection, and what the gateway writes itself.
_OWN: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"})

Bend = Callable[[WordExchange], None]
"""Changes an exchange: before it goes to the server, or before the answer goes to the worker."""


class Gateway:
    """An HTTP server before the real one."""

    def __init__(self, host: str, port: int) -> None:
        self.exchanges: list[WordExchange] = []
        self.upstream: int | None = None
        """The port of the server; None while it is down."""
        self.before: Bend = _as_it_is
        """What happens to a request. One that it answers itself (`status`), or drops, is not sent on."""
        self.after: Bend = _as_it_is
        self._asking = 0
        self._under_way = threading.Condition()
        self._server = ThreadingHTTPServer((host, port), self._handler(), bind_and_activate=True)
        self._server.daemon_threads = True
        self.address = f"http://{host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def bend(self, *, before: Bend | None = None, after: Bend | None = None) -> None:
        """Change what happens to exchanges from now on; nothing, when nothing is said."""
        self.before, self.after = before or _as_it_is, after or _as_it_is

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def pass_on(self, exchange: WordExchange, client: socket.socket) -> None:
        """Bring a request to the server, and its answer back into the exchange."""
        with self._under_way:
            self._asking += 1
        try:
            self.before(exchange)
            if not exchange.dropped and exchange.status is None:
                self._ask(exchange, client)
                if not exchange.dropped:
                    self.after(exchange)
        finally:
            with self._under_way:
                self._asking -= 1
                self._under_way.notify_all()

    def settle(self, seconds: float) -> None:
        """Wait until no request is under way: a claim of a worker that is gone must not take a task with it."""
        with self._under_way:
            self._under_way.wait_for(lambda: self._asking == 0, seconds)

    def _ask(self, exchange: WordExchange, client: socket.socket) -> None:
        if self.upstream is None:
            exchange.dropped = True
            return
        headers = {name: value for name, value in exchange.headers.items() if name not in _OWN}
        asking = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=_TIMEOUT)
        try:
            asking.request(exchange.method, exchange.path, exchange.raw, headers)
            if _has_left(client, asking.sock):
                exchange.dropped = True
                return
            answer = asking.getresponse()
            exchange.answer = answer.read()
            exchange.answer_headers = {
                name.lower(): value for name, value in answer.getheaders() if name.lower() not in _OWN
            }
            exchange.status = answer.status
        except (OSError, http.client.HTTPException):
            exchange.dropped = True
        finally:
            asking.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class _GatewayHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                exchange = WordExchange(self.command, self.path, headers, self.rfile.read(length))
                gateway.exchanges.append(exchange)
                gateway.pass_on(exchange, self.connection)
                if exchange.dropped:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response_only(exchange.status or 502)
                for name, value in exchange.answer_headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(exchange.answer)))
                self.end_headers()
                self.wfile.write(exchange.answer)

            do_GET = do_POST = _serve  # noqa: N815 - so http.server calls them

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    # A worker may be killed in the middle of a request.
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """Say nothing: the exchanges are the log."""

        return _GatewayHandler


def _has_left(client: socket.socket, server: socket.socket) -> bool:
    """Wait for the server's answer; True when the worker leaves before, so that the server learns it, too."""
    while True:
        ready, _, _ = select.select([client, server], [], [], _TIMEOUT)
        if server in ready or not ready:
            return False
        if client.recv(1, socket.MSG_PEEK) == b"":
            return True
        # It sends its next request already.
        select.select([server], [], [], _TIMEOUT)


def _as_it_is(_: WordExchange) -> None:
    """Change nothing."""
