"""The fixtures that every PostgreSQL test stands on."""

from __future__ import annotations

import psycopg
import pytest


@pytest.mark.parametrize("_again", range(2))
def test_each_test_gets_an_empty_database_of_its_own(fresh_postgres: str, _again: int) -> None:
    with psycopg.connect(fresh_postgres) as connection:
        connection.execute("CREATE TABLE left_behind (id integer)")
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (1,)
