"""Settings that a running `kurabito serve` follows: told to the parts that they are for, without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from kurabito import logs
from kurabito.app.built_in_downloader import BuiltIn, embedded_options
from kurabito.app.compose.downloads import poll_policy
from kurabito.app.dataplane_process import log_of
from kurabito.app.listener import limits_of
from kurabito.app.product import Product
from kurabito.app.server import Server
from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection
from kurabito.errors import KurabitoError
from kurabito.library import libraries
from kurabito.library.deletion import policy
from kurabito.logs import get_logger
from kurabito.reasons import Reason
from kurabito.runtime.worker.supervisor import Supervisor
from kurabito.settings import Settings
from kurabito.settings.effects import OF_DATA_PLANES
from kurabito.settings.errors import SettingsRefused
from kurabito.settings.problems import SettingProblem, SettingReason
from kurabito.site.gate import Gate

_MIB: Final = 2**20
_AGAIN: Final = 1.0

_log = get_logger(__name__)


class LiveSettings:
    """Hears of changed settings and has the parts follow. What takes longer than a moment is done by `run`."""

    def __init__(
        self,
        settings: Settings,
        product: Product,
        gate: Gate,
        server: Server,
        built_in: BuiltIn,
        plane: Supervisor | None,
        clock: Clock | None = None,
    ) -> None:
        self._seen = settings
        self._product = product
        self._gate = gate
        self._server = server
        self._built_in = built_in
        self._plane = plane
        self._clock = clock or SystemClock()
        self._changes: asyncio.Queue[tuple[Settings, Settings]] = asyncio.Queue()

    def hear(self, settings: Settings) -> None:
        """Follow what can be followed at once, and leave the rest to `run`."""
        before, self._seen = self._seen, settings
        follow_log(settings)
        self._follow_library(settings)
        self._follow_downloads(settings)
        self._follow_metadata(settings)
        self._gate.trust(allowed_hosts=settings.allowed_hosts, trusted_proxies=settings.trusted_proxies)
        self._server.limit(limits_of(settings))
        self._changes.put_nowait((before, settings))

    async def run(self) -> None:
        """Follow what has to wait for something, until cancelled."""
        while True:
            before, settings = await self._changes.get()
            try:
                await self._catch_up(before, settings)
            except (KurabitoError, OSError) as problem:
                _log.warning("a changed setting is not followed until the next start", problem=str(problem))

    async def _catch_up(self, before: Settings, settings: Settings) -> None:
        if before.allow_delete is not settings.allow_delete:
            await self._store_policy()
        if embedded_options(before) != embedded_options(settings):
            await self._built_in.adjust(settings)
        is_for_planes = any(getattr(before, name) != getattr(settings, name) for name in OF_DATA_PLANES)
        if self._plane is not None and is_for_planes:
            self._plane.renew(log_of(settings))
        if settings.tmdb_key and settings.tmdb_key != before.tmdb_key:
            # What waited for the key need not wait for the next round.
            await self._product.metadata.fill_in()

    async def _store_policy(self) -> None:
        """Have data planes remove files, or remove none any more, as it is wanted by now.

        They are told until they know: the page shows that nothing is removed as soon as the setting is stored.
        """
        while True:
            try:
                await self._product.database.write(partial(policy.store, allowed=self._seen.allow_delete))
            except KurabitoError as problem:
                _log.warning("data planes are not told whether to remove files", problem=str(problem), again_in=_AGAIN)
                await self._clock.sleep(_AGAIN)
            else:
                return

    def _follow_library(self, settings: Settings) -> None:
        product = self._product
        product.trash.days = settings.trash_days
        product.trash.may_purge = product.plans.allowed = product.discards.allowed = settings.allow_delete
        product.thumbnails.thumbnails.capacity = settings.thumbnail_capacity
        product.thumbnails.cleanups.delay = settings.thumbnail_cleanup_delay
        product.checkpoints.adjust(
            interval=settings.wal_interval,
            limit=settings.wal_limit_mb * _MIB,
            may_truncate=settings.wal_truncate,
        )

    def _follow_downloads(self, settings: Settings) -> None:
        parts, policy_now = self._product.downloads, poll_policy(settings)
        parts.downloads.stalled = timedelta(minutes=settings.stalled_minutes)
        parts.scheduler.elsewhere = policy_now.elsewhere
        parts.scheduler.dead = None if settings.dead_hours is None else timedelta(hours=settings.dead_hours)
        # The interval is that of the schedule, which was made at the start.
        downloaders = self._product.downloaders
        downloaders.policy = replace(downloaders.policy, elsewhere=policy_now.elsewhere)

    def _follow_metadata(self, settings: Settings) -> None:
        metadata = self._product.metadata
        key = settings.tmdb_key.get_secret_value() if settings.tmdb_key else None
        metadata.tmdb.use(key, url=settings.tmdb_url, image_url=settings.tmdb_image_url)
        metadata.sources.asks_tmdb = metadata.tmdb.is_on
        metadata.bangumi.use(url=settings.bgm_url)
        metadata.index.url = settings.offline_ids_url
        metadata.index.is_allowed = settings.offline_ids_refresh


def follow_log(settings: Settings) -> None:
    """Write the log as the settings want it now, if this program writes one."""
    wanted = (settings.log_format, settings.log_level)
    if logs.chosen() not in (None, wanted):
        logs.configure(format=settings.log_format, level=settings.log_level)


def refuse_overlap(conn: Connection, settings: Settings, new: Mapping[str, object]) -> None:
    """Raises SettingsRefused if downloads would go into a library, or around one: the next start would refuse it."""
    root = settings.download_root
    if "download_root" not in new or root is None:
        return
    for library in libraries.everything(conn):
        if libraries.overlap(root.resolve(), library.path):
            name = library.settings.name
            text = (
                f"{root} and the folder of the library {name!r}, {library.path}, lie one in the other; choose another"
            )
            reason = Reason(SettingReason.OVERLAPS_LIBRARY, {"path": str(root), "library": name})
            raise SettingsRefused({"download_root": SettingProblem(text, reason)})
