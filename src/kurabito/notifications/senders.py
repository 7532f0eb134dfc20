"""How each kind of destination is sent a message."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.http import Limits, Outbound
from kurabito.http.errors import OutboundError
from kurabito.notifications.errors import DestinationRefused
from kurabito.notifications.events import NotificationEvent
from kurabito.notifications.model import DestinationKind, DestinationSettings, Message

# Its keeper named the host; where that would send us was not named, so nothing is followed. The task tries again.
_CALL: Final = Limits(redirects=0, attempts=1, seconds=20.0, connect_seconds=5.0, max_bytes=1 << 20)
_CHILD: Final = "kurabito.notifications.apprise_child"
_PATIENCE: Final = 60.0
# What a child needs to start and to speak TLS. Settings of ours, which may be secrets, are not among it.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Senders:
    """Sends messages; raises DestinationRefused."""

    def __init__(self, outbound: Outbound, private_hosts: Sequence[str] = (), proxy: str | None = None) -> None:
        self._outbound = outbound
        self._private_hosts = list(private_hosts)
        self._proxy = proxy

    async def send(
        self, settings: DestinationSettings, message: Message, events: Sequence[NotificationEvent] = ()
    ) -> None:
        """Send a message to a destination."""
        if settings.kind is DestinationKind.WEBHOOK:
            await self._call(settings, message, events)
        else:
            await self._run_child(settings, message)

    async def _call(self, settings: DestinationSettings, message: Message, events: Sequence[NotificationEvent]) -> None:
        body = {
            "title": message.title,
            "body": message.body,
            "events": [{"kind": one.kind, "code": one.code, "facts": dict(one.facts)} for one in events],
        }
        try:
            await self._outbound.request(
                "POST",
                settings.url,
                json=body,
                headers={"Authorization": f"Bearer {settings.token}"} if settings.token else {},
                trusted=[urlsplit(settings.url).hostname or ""],
                limits=_CALL,
            )
        except OutboundError as error:
            # It names the address, and the path of a webhook is often its password.
            raise DestinationRefused(_without(settings.url, str(error)), error.code) from None

    async def _run_child(self, settings: DestinationSettings, message: Message) -> None:
        order = {"url": settings.url, **asdict(message), "private_hosts": self._private_hosts, "proxy": self._proxy}
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _CHILD,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                said, _ = await child.communicate(json.dumps(order).encode())
        except TimeoutError:
            raise DestinationRefused(f"the service did not answer within {_PATIENCE:g} s; try again later") from None
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        answer = _read(said)
        if not answer.get("is_sent"):
            raise DestinationRefused(_without(settings.url, str(answer.get("problem") or "Apprise ended unexpectedly")))


def _read(said: bytes) -> dict[str, Any]:
    try:
        found = json.loads(said)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _without(url: str, problem: str) -> str:
    """A problem without the parts of the address that may be secrets."""
    _, _, rest = url.partition("://")
    for part in sorted({part for part in _split(rest) if len(part) > 5}, key=len, reverse=True):
        problem = problem.replace(part, "…")
    return problem[:500]


def _split(rest: str) -> list[str]:
    for sign in "/?&=@:,":
        rest = rest.replace(sign, " ")
    return rest.split()
