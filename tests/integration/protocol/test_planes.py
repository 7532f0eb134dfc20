"""Data planes on the list of the living, on both databases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

from kurabito.app.database import prepare_database
from kurabito.clock import ManualClock
from kurabito.db import Database, open_database
from kurabito.protocol import planes
from kurabito.protocol.errors import ProtocolMismatch
from kurabito.settings import Settings

OTHER_MAJOR = "UPDATE protocol_version SET major = 2, minor = 3"


def announce(database: Database, name: str) -> None:
    database.write_blocking(lambda conn: planes.announce(conn, name, ["hash", "scan"], "1.0", 30.0))


def names(database: Database) -> list[str]:
    return [plane.name for plane in database.read_blocking(planes.living)]


def test_a_plane_is_believed_for_as_long_as_it_says(database: Database, clock: ManualClock) -> None:
    announce(database, "a")
    clock.advance(20)
    announce(database, "b")
    announce(database, "a")
    assert names(database) == ["a", "b"]
    first = database.read_blocking(planes.living)[0]
    assert (first.lines, first.version) == (("hash", "scan"), "1.0")
    assert (first.heartbeat_at - first.started_at).total_seconds() == 20
    clock.advance(29)
    announce(database, "a")
    clock.advance(2)
    assert names(database) == ["a"]


def test_who_is_long_dead_is_forgotten_by_the_living(database: Database, clock: ManualClock) -> None:
    announce(database, "dead")
    clock.advance(31)
    announce(database, "alive")
    assert database.read_blocking(lambda conn: conn.all("SELECT name FROM data_planes")) == [("alive",)]


def test_who_departs_is_gone_at_once(database: Database) -> None:
    announce(database, "a")
    assert database.write_blocking(lambda conn: planes.depart(conn, "a"))
    assert not database.write_blocking(lambda conn: planes.depart(conn, "a"))
    assert names(database) == []


def test_a_plane_says_which_protocol_it_speaks_and_what_it_can_do(database: Database) -> None:
    database.write_blocking(lambda conn: planes.announce(conn, "a", ["hash"], "1.0", 30.0, ["hash.blake3"]))
    (plane,) = database.read_blocking(planes.living)
    assert (plane.protocol, plane.capabilities) == ("1.0", ("hash.blake3",))


def test_a_database_of_another_major_is_joined_by_no_plane(database: Database) -> None:
    database.write_blocking(lambda conn: conn.run(OTHER_MAJOR))
    with pytest.raises(
        ProtocolMismatch, match=r"speaks version 2\.3 of the planes' protocol and this program 1\.0; run a"
    ):
        announce(database, "a")
    assert names(database) == []
    database.write_blocking(lambda conn: conn.run("DELETE FROM protocol_version"))
    with pytest.raises(ProtocolMismatch, match="speaks no version"):
        announce(database, "a")


def test_both_planes_say_so_and_end(migrated_sqlite: str, tmp_path: Path) -> None:
    settings = Settings(state=tmp_path / "state", database=migrated_sqlite)
    prepare_database(settings)
    database = open_database(migrated_sqlite)
    database.open()
    database.write_blocking(lambda conn: conn.run(OTHER_MAJOR))
    database.close()
    with pytest.raises(ProtocolMismatch, match=r"version 2\.3"):
        prepare_database(settings)
    environment = {**os.environ, "KURABITO_STATE": str(settings.state), "KURABITO_DATABASE": migrated_sqlite}
    ended = run([*KURABITO, "dataplane", "--once"], env=environment, timeout=PATIENCE)
    assert ended.returncode != 0
    assert "the database speaks version 2.3 of the planes' protocol and this program 1.0" in ended.stderr
