"""A downloader service makes itself known to the core, and again when the core was away."""

from __future__ import annotations

import asyncio
import json
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from kurabito.catalog.download_types import DownloadType
from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.errors import ConfigError, KurabitoError
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.logs import get_logger
from kurabito.modules.service_client import with_cause

log = get_logger(__name__)

_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0
_ASKED_EVERY: Final = 15.0
# A core that answers all the time may still have lost our registration, such as with a restored database.
_RENEWED_EVERY: Final = 600.0
_ONCE: Final = Limits(seconds=15.0, redirects=0, attempts=1, max_bytes=65_536, refusal_bytes=65_536)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who a service is. They outlive its process, so that the core goes on where it was after a restart."""

    instance_id: str
    token: str = field(repr=False)
    """What the core has to show."""

    @classmethod
    def kept_in(cls, path: Path) -> Self:
        """Those of the file, which is made when it is missing."""
        try:
            kept = json.loads(path.read_bytes())
            return cls(str(kept["instance_id"]), str(kept["token"]))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path} cannot be read: {error}; remove it, and the service gets a new token") from None
        new = cls(uuid.uuid4().hex, secrets.token_urlsafe(32))
        fresh = path.with_name(f"{path.name}.new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps({"instance_id": new.instance_id, "token": new.token}), encoding="utf-8")
        fresh.replace(path)
        return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What a service says of itself."""

    name: str
    host: str
    port: int
    download_types: Sequence[DownloadType]
    credentials: Credentials


class Announcer:
    """Registers a service at the core for as long as it runs."""

    def __init__(
        self,
        outbound: Outbound,
        core: str,
        api_key: str | None,
        announcement: Announcement,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._outbound = outbound
        self._core = core.rstrip("/")
        self._host = core_host(core)
        self._headers = {"X-Api-Key": api_key} if api_key else {}
        self._announcement = announcement
        self._clock = clock or SystemClock()

    async def run(self) -> None:
        """Register, watch whether the core is there, and register again when it was not. Runs until cancelled."""
        never = asyncio.Event()
        wait = _FIRST_WAIT
        while True:
            try:
                await self._register()
                wait = _FIRST_WAIT
                await self._watch()
            except KurabitoError as error:
                log.warning("not registered at the core yet", core=self._core, problem=str(error), seconds=wait)
                await self._clock.wait(never, wait)
                wait = min(_LONGEST_WAIT, wait * 2)

    async def _register(self) -> None:
        announcement = self._announcement
        try:
            await self._send(announcement)
        except BadStatus as refused:
            # What to do about it is in the answer of the core, such as another key or a host to be allowed.
            raise with_cause(refused) from None
        log.info("registered at the core", core=self._core, name=announcement.name)

    async def _send(self, announcement: Announcement) -> None:
        await self._outbound.request(
            "POST",
            f"{self._core}/services/register",
            json={
                "service_type": "downloader",
                "service_name": announcement.name,
                "host": announcement.host,
                "port": announcement.port,
                "instance_id": announcement.credentials.instance_id,
                "token": announcement.credentials.token,
                "capabilities": {
                    "download_endpoint": "/downloads",
                    "supported_download_types": [kind.value for kind in announcement.download_types],
                },
            },
            headers=self._headers,
            trusted=[self._host],
            limits=_ONCE,
        )

    async def _watch(self) -> None:
        """Returns when it is time to register again."""
        never, until = asyncio.Event(), self._clock.now() + round(_RENEWED_EVERY * SECOND)
        while self._clock.now() < until:
            await self._clock.wait(never, _ASKED_EVERY)
            try:
                await self._outbound.get(f"{self._core}/health", trusted=[self._host], limits=_ONCE)
            except OutboundError as error:
                log.info("core not responding", core=self._core, problem=error.code)
                return


def core_host(core: str) -> str:
    """The host of the core's URL; raises ConfigError."""
    parts = urlsplit(core)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("core must be the URL of a Kurabito, like http://127.0.0.1:8484")
    return parts.hostname
