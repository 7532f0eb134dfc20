"""Data planes on the list of the living, on both databases."""

from __future__ import annotations

from kurabito.clock import ManualClock
from kurabito.db import Database
from kurabito.protocol import planes


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
