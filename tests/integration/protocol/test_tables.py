"""The page about the protocol tells of every column that there is."""

from __future__ import annotations

from pathlib import Path

from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol.rights import DATA_PLANE
from kurabito.protocol.tables import TABLES


def test_every_column_is_told_and_every_enum_is_checked_by_the_database(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'files.db'}")
    database.open()
    migrate(database, PRODUCT)
    try:
        for table in TABLES:
            listed = database.read_blocking(
                lambda conn, name=table.name: conn.all(f"SELECT name FROM pragma_table_info('{name}')")  # type: ignore[misc]
            )
            assert {name for (name,) in listed} == set(table.columns), table.name
            text = database.read_blocking(
                lambda conn, name=table.name: conn.one(f"SELECT sql FROM sqlite_master WHERE name = '{name}'")  # type: ignore[misc]
            )
            assert text is not None
            for column, values in table.values.items():
                if column == "error_code" or table.name == "duplicate_groups":
                    continue
                assert f"{column} IN ({', '.join(repr(str(value)) for value in values)})" in text[0], (
                    table.name,
                    column,
                )
    finally:
        database.close()


def test_whatever_may_be_written_is_told() -> None:
    assert DATA_PLANE.update.keys() | DATA_PLANE.insert | DATA_PLANE.delete <= {table.name for table in TABLES}
