"""The process in which Apprise sends one message: `python -m kurabito.notifications.apprise_child`, an order on its stdin.

Apprise makes its own connections and can read files. So it runs apart, where each connection and each file that is opened
is judged first: a host that the keeper wrote into the address may be anywhere, every other one has to be public, as for
all that leaves Kurabito; files are opened only where Python itself lies, programs are not started at all.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import ssl
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from kurabito.http.addresses import Address, literal, normal
from kurabito.http.errors import HostNotAllowed
from kurabito.http.guard import Guard, Trusted

_SIGNS: Final = re.compile(r"[/?&=@,\s]+")
_PROGRAMS: Final = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "ctypes.dlopen"})
_SECONDS: Final = 20


class Judge:
    """Judges what a process does, before it is done."""

    def __init__(self, url: str, private_hosts: Iterable[str], proxy: str | None) -> None:
        named = named_hosts(url)
        self._trusted = Trusted.parse([*named, *([urlsplit(proxy).hostname or ""] if proxy else [])])
        self._guard = Guard(private_hosts)
        self._allowed: set[Address] = set()
        self._readable = tuple(_readable())
        self.refusal: str | None = None
        """The last thing that was refused."""

    def hear(self, host: str, addresses: Iterable[Address]) -> None:
        """Remember where a host that the keeper named leads to."""
        if self._trusted.has_host(normal(host)):
            self._allowed.update(addresses)

    def judge(self, event: str, facts: tuple[Any, ...]) -> None:
        """An audit hook of Python."""
        if event in ("socket.connect", "socket.sendto"):
            self._judge_address(facts[1])
        elif event in _PROGRAMS:
            self._refuse(PermissionError("a service that starts programs is not used"))
        elif event == "open" and isinstance(facts[0], str | bytes):
            self._judge_file(os.fsdecode(facts[0]))

    def _judge_address(self, place: Any) -> None:
        host = place[0] if isinstance(place, tuple) and isinstance(place[0], str) else ""
        address = literal(host.partition("%")[0])
        if address is None:
            self._refuse(PermissionError("only addresses of the internet are connected to"))
        elif address not in self._allowed and not self._trusted.has_host(str(address)):
            try:
                self._guard.admit(host, [address])
            except HostNotAllowed as error:
                self._refuse(PermissionError(str(error)))

    def _judge_file(self, path: str) -> None:
        whole = os.path.realpath(path)
        if not whole.startswith(self._readable):
            self._refuse(PermissionError("an address that reads a file of this machine is not used"))

    def _refuse(self, error: PermissionError) -> None:
        self.refusal = str(error)
        raise error


def named_hosts(url: str) -> list[str]:
    """All that may be a host in the address, as the keeper wrote it: also `?smtp=mail.lan`.

    >>> named_hosts("mailtos://me:secret@nas.lan:465?smtp=10.0.0.5")
    ['me', 'secret', 'nas.lan', '465', '10.0.0.5']
    """
    found = []
    for part in _SIGNS.split(unquote(url.partition("://")[2])):
        if part.startswith("["):
            found.append(part[1:].partition("]")[0])
        else:
            found += part.split(":")
    return [part for part in found if part and "/" not in part and part != "smtp"]


def _readable() -> Iterable[str]:
    certificates = ssl.get_default_verify_paths()
    for place in (sys.prefix, sys.base_prefix, *sys.path, certificates.openssl_capath, certificates.cafile, "/etc/ssl"):
        if place and (path := os.path.realpath(place)) != "/":
            yield path
    for name in ("/dev/null", "/dev/urandom", "/etc/mime.types", "/etc/localtime", "/usr/share/zoneinfo"):
        yield os.path.realpath(name)
    # The home folder may have credentials for hosts, which are not for Apprise.
    yield str(Path(__file__).resolve().parents[1])


def _watch(judge: Judge) -> None:
    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **named: Any) -> Any:
        found = resolve(host, *rest, **named)
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        judge.hear(name, filter(None, (literal(str(place[0]).partition("%")[0]) for *_, place in found)))
        return found

    socket.getaddrinfo = getaddrinfo
    sys.addaudithook(judge.judge)


def send(order: dict[str, Any]) -> dict[str, Any]:
    """Send the message of an order; whether it was sent, or why not."""
    import apprise

    if proxy := order.get("proxy"):
        os.environ.update(HTTP_PROXY=proxy, HTTPS_PROXY=proxy)
    said: list[str] = []
    heard = logging.Handler(logging.WARNING)
    heard.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("apprise").addHandler(heard)
    judge = Judge(order["url"], order.get("private_hosts", ()), proxy)
    asset = apprise.AppriseAsset(app_id="Kurabito", app_desc="Kurabito", async_mode=False, storage_mode="memory")
    socket.setdefaulttimeout(_SECONDS)
    _watch(judge)
    service = apprise.Apprise(asset=asset)
    if not service.add(order["url"]) or len(service) != 1:
        return {"is_sent": False, "problem": judge.refusal or "Apprise does not understand this address; check it"}
    is_sent = bool(service.notify(title=order["title"], body=order["body"] or order["title"], body_format="text"))
    return {"is_sent": is_sent, "problem": judge.refusal or "; ".join(said[-2:]) or "the service refused the message"}


def main() -> None:
    """Read an order, and write what came of it."""
    answer = send(json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
