"""The data plane as a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from kurabito.dataplane import garbage
from kurabito.dataplane.checkpoints import CheckpointWork
from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.jobs import Executor, JobWork
from kurabito.dataplane.leasing.plane_locks import PlaneLocks
from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.dataplane.plane import DataPlane
from kurabito.dataplane.priority import lower_priority
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.dataplane.thumbnails.cleanup import CleanupWork
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.job import ThumbnailWork
from kurabito.dataplane.thumbnails.media_job import MediaWork
from kurabito.db import Database, open_database
from kurabito.db.migrate import PRODUCT, pending
from kurabito.db.postgres.roles import role_is_ready
from kurabito.errors import ConfigError, DatabaseUnavailable
from kurabito.logs import get_logger
from kurabito.protocol.enums import JobKind, MediaType
from kurabito.protocol.rights import DATA_PLANE, READABLE
from kurabito.protocol.version import Capability, check
from kurabito.runtime.worker.locks import fresh_worker_name
from kurabito.runtime.worker.supervisor import WORKER_NAME
from kurabito.settings import Settings

_SPARE_THREADS: Final = 4

_log = get_logger(__name__)


async def run(settings: Settings, *, once: bool = False) -> None:
    """Run a data plane until Ctrl-C or SIGTERM, or until nothing is left to do."""
    # First of all: the threads that are started from here on inherit it.
    lower_priority(nice=settings.dataplane_nice, idle_io=settings.dataplane_io == "idle")
    garbage.look_rarely()
    database = await asyncio.to_thread(_open_restricted, settings)
    try:
        # The supervisor knows this process by its name, and sees to its rows when it dies.
        name = os.environ.pop(WORKER_NAME, "") or fresh_worker_name()
        runners = _runners(settings, database, name)
        plane = DataPlane(
            database,
            runners,
            name=name,
            lease=settings.lease_seconds,
            heartbeat=settings.heartbeat_seconds,
            capabilities=_capabilities(settings, database),
        )
        loop = asyncio.get_running_loop()
        # Each runner keeps a thread busy for as long as it works; the rest is for what the daemon itself asks.
        loop.set_default_executor(ThreadPoolExecutor(len(runners) + _SPARE_THREADS, "runner"))
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, plane.stop)
        locks = PlaneLocks(database, heartbeat=settings.heartbeat_seconds)
        with locks.held(name):
            _log.info("data plane started", plane=plane.name, pid=os.getpid())
            await locks.expire_dead()
            await _beside(locks.run(), plane.drain() if once else plane.run())
        _log.info("data plane stopped", plane=plane.name)
    finally:
        await asyncio.to_thread(database.close)


async def _beside(upkeep: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None]) -> None:
    """Do some work to its end, and something else as long as it goes on."""
    beside = asyncio.create_task(upkeep)
    try:
        await work
    finally:
        beside.cancel()
        with suppress(asyncio.CancelledError):
            await beside


def _executors(settings: Settings) -> list[dict[JobKind, Executor]]:
    """Who does which kind of job, and which wait for each other."""
    # One scan or hash is there at a time. What is deleted or put back waits for neither.
    return [{JobKind.SCAN: Scanner(settings.state), JobKind.HASH: HashFiles()}, {JobKind.DELETE: delete}]


def _runners(settings: Settings, database: Database, name: str) -> list[Runner[Any]]:
    """What this data plane does."""
    lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
    works: list[LeasedWork[Any]] = [
        *(JobWork(executors) for executors in _executors(settings)),
        *_thumbnail_works(settings, database),
        CleanupWork(state=settings.state),
        InspectionWork(),
        MediaWork(DecoderProcess(MediaType.VIDEO), limit=_reading_limit(settings, database)),
        PlacementWork(),
    ]
    if (connect := database.connect_for_checkpoints) is not None:
        works.append(CheckpointWork(connect))
    return [Runner(database, leased, name=name, lease=lease, heartbeat=heartbeat) for leased in works]


def _thumbnail_works(settings: Settings, database: Database) -> list[ThumbnailWork]:
    """One for each picture that is drawn at the same time."""
    at_once = {MediaType.IMAGE: settings.thumbnail_images, MediaType.VIDEO: settings.thumbnail_videos}
    return [
        ThumbnailWork(
            media_type,
            DecoderProcess(media_type),
            state=settings.state,
            limit=_reading_limit(settings, database),
        )
        for media_type, count in at_once.items()
        for _ in range(count)
    ]


def _reading_limit(settings: Settings, database: Database) -> IoLimit | None:
    rate = settings.thumbnail_bytes_per_second
    return IoLimit(database, rate) if rate else None


def _capabilities(settings: Settings, database: Database) -> list[Capability]:
    """What of the protocol this data plane can do, as it is set up."""
    lacking = {
        Capability.THUMBNAIL_IMAGE: not settings.thumbnail_images,
        Capability.THUMBNAIL_VIDEO: not settings.thumbnail_videos,
        Capability.CHECKPOINT: database.connect_for_checkpoints is None,
    }
    return [capability for capability in Capability if not lacking.get(capability)]


def _open_restricted(settings: Settings) -> Database:
    """The database, on connections that can write what a data plane may and nothing else."""
    database = open_database(settings.database, create=False, rights=DATA_PLANE)
    _open(database)
    if database.pooled:
        database.close()
        raise ConfigError(
            "the database is reached through a pooler like PgBouncer, and what a data plane may write is a setting of its "
            "session, which a pooler shares among many; give KURABITO_DATABASE the URL of the server itself"
        )
    if not database.dialect.has_server:
        return database
    try:
        ready = role_is_ready(database, settings.dataplane_role, READABLE)
    except BaseException:
        database.close()
        raise
    if not ready:
        _log.warning(
            "the database does not hold this data plane to its rights; `kurabito db migrate` says what to run",
            role=settings.dataplane_role,
        )
        return database
    database.close()
    restricted = open_database(settings.database, create=False, role=settings.dataplane_role)
    restricted.open()
    return restricted


def _open(database: Database) -> None:
    database.open()
    try:
        if missing := pending(database, PRODUCT):
            raise DatabaseUnavailable(
                f"the database lacks {', '.join(missing)}; run `kurabito serve` or `kurabito db migrate` first"
            )
        database.read_blocking(check)
    except BaseException:
        database.close()
        raise
