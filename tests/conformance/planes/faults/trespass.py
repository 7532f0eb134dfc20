"""Faults of planes that reach for what is not theirs: the schema, other tables, other libraries, the files themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance.planes.faults.fault import also_at_end, edit, fault, put

from kurabito.dataplane.scan.queries import SQL
from kurabito.db import leases


def _at_end_in_library(act: Callable[[Path], None]) -> None:
    """Have something done in the folder of the first library at the end of each job."""
    finish = leases.finish

    def act_and_finish(conn: Any, *args: Any, **kwargs: Any) -> Any:
        act(Path(conn.value("SELECT root_path FROM library_roots WHERE id = 1")))
        return finish(conn, *args, **kwargs)

    put(leases, "finish", act_and_finish)


@fault("PLANE-1", check="what is not its own stays")
def keeps_a_table_of_its_own() -> None:
    also_at_end("CREATE TABLE IF NOT EXISTS notes_of_mine (at INTEGER)")


@fault("PLANE-1")
def writes_to_a_table_of_another_part() -> None:
    also_at_end("DELETE FROM wanted_policy")


@fault("PLANE-10")
def keeps_notes_in_the_library() -> None:
    _at_end_in_library(lambda folder: folder.joinpath(".notes").touch())


@fault("PLANE-10")
def closes_files_to_others() -> None:
    def close(folder: Path) -> None:
        for path in folder.iterdir():
            if path.is_file() and not path.is_symlink():
                path.chmod(0o600)

    _at_end_in_library(close)


@fault("SCAN-1")
def ends_the_sessions_of_every_library() -> None:
    edit(SQL, "abandon_others", "library_id = :library AND ", "")


@fault("SCAN-6", check="a changed file keeps its row")
def replaces_rows() -> None:
    columns = "library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at"
    also_at_end(
        f"INSERT OR REPLACE INTO library_files ({columns}) "
        f"SELECT {columns} FROM library_files WHERE library_id = 1 AND relative_path = 'a.mkv'"
    )


@fault("SCAN-8")
def marks_missing_in_every_library() -> None:
    also_at_end("UPDATE library_files SET is_missing = 1 WHERE library_id = 2")
