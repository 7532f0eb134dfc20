"""The table of downloads keeps what is written to it legal, whoever writes."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import psycopg
import pytest

from kurabito.db import Connection, Dialect
from kurabito.db.errors import UniqueConflict
from kurabito.feeds.results import FeedItem

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

REFUSALS = (sqlite3.IntegrityError, psycopg.IntegrityError, UniqueConflict)
STATUSES = ("pending", "downloading", "completed", "failed", "cancelled", "downloader_error", "no_downloader")
ADD = (
    "INSERT INTO downloads (link_id, module_id, status, queued_at, created_at, updated_at) "
    "VALUES (1, :module, :status, 1, 1, 1)"
)
MODULE = (
    "INSERT INTO service_modules (service_type, service_name, host, port, instance_id, token, registered_at, last_seen_at) "
    "VALUES ('downloader', 'box', 'localhost', 1, 'i', 't', 1, 1)"
)


@pytest.fixture(autouse=True)
async def _a_link(desk: Desk) -> None:
    await desk.bring(desk.subscribe(), FeedItem(title="[Kura] Show - 01", download_url="https://feeds.example/1.mkv"))


def add(desk: Desk, status: str, module: int | None = None) -> None:
    desk.database.write_blocking(lambda conn: conn.run(ADD, {"status": status, "module": module}))


def refused(desk: Desk, status: str, module: int | None = None) -> bool:
    try:
        add(desk, status, module)
    except REFUSALS:
        return True
    return False


async def test_a_download_is_in_one_of_seven_states(desk: Desk) -> None:
    for status in STATUSES:
        add(desk, status)
        desk.database.write_blocking(lambda conn: conn.run("DELETE FROM downloads"))
    assert refused(desk, "finished")
    assert refused(desk, "Pending")


async def test_a_link_has_one_download_that_is_not_over(desk: Desk) -> None:
    for over in ("completed", "failed", "cancelled"):
        add(desk, over)
    add(desk, "downloading")
    assert all(refused(desk, status) for status in ("pending", "downloading", "downloader_error", "no_downloader"))


async def test_a_download_names_its_downloader_as_long_as_there_is_one(desk: Desk) -> None:
    def register(conn: Connection) -> None:
        # SQLite looks at references only where it is told to.
        assert conn.dialect is Dialect.POSTGRES or conn.one("PRAGMA foreign_keys") == (1,)
        conn.run(MODULE)

    desk.database.write_blocking(register)
    assert refused(desk, "downloading", module=7)
    add(desk, "downloading", module=1)
    desk.database.write_blocking(lambda conn: conn.run("DELETE FROM service_modules"))
    assert desk.all("SELECT module_id, status FROM downloads") == [(None, "downloading")]
