"""A trash outlives its library: when its folder is added again, what lies in the trash can be put back as before.

Each file has beside it where it came from and what it is. That was written by us, and may have been changed by anybody since:
what is not understood, or does not fit the file, is left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from kurabito.dataplane.files.paths import as_text
from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.removal.file_refs import FileRef, OpenRoots
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.db import Connection, Queries
from kurabito.logs import get_logger
from kurabito.protocol.deletion import TRASH_FOLDER

_SQL: Final = Queries("kurabito.dataplane.scan", "trash_adoption.sql")
_NAME: Final = re.compile("[0-9a-f]{32}")
_AT_ONCE: Final = 500

_log = get_logger(__name__)


def adopt_trash(job: LeasedJob, library_id: int, folder: Path) -> int:
    """Take what lies in the trash folders of a new library into its trash; how much that was. Safe to do twice."""
    return _adopt(job, library_id, folder, _trashed(folder), takes_over=True)


def adopt_unknown(job: LeasedJob, library_id: int, folder: Path) -> int:
    """The same for a library that is known: what its database does not know, because an earlier copy of it was restored.

    Only the trash at its top and those that it has used are looked into. An entry that is there stays as it is: while this looks,
    another job may just be taking its file out.
    """

    def look(conn: Connection) -> tuple[set[str], set[str]]:
        used = {found for (found,) in conn.all(_SQL.trash_folders, {"library_id": library_id})}
        return {TRASH_FOLDER, *used}, {found for (found,) in conn.all(_SQL.known, {"library_id": library_id})}

    trashes, known = job.read(look)
    lying = ((prefix, name) for prefix in sorted(trashes) for name in _listed(folder / prefix))
    unknown = (f"{prefix}/{name}" for prefix, name in lying if _NAME.fullmatch(name) and name not in known)
    return _adopt(job, library_id, folder, unknown, takes_over=False)


def _adopt(job: LeasedJob, library_id: int, folder: Path, paths: Iterable[str], *, takes_over: bool) -> int:
    adopted = 0
    rows: list[dict[str, Any]] = []
    for trash_path in paths:
        job.check()
        with OpenRoots[Path](lambda path: path) as roots:
            row = _row(roots.file(folder, trash_path), trash_path)
        if row is not None:
            rows.append({**row, "library_id": library_id})
        if len(rows) == _AT_ONCE:
            adopted += _store(job, rows, takes_over=takes_over)
            rows = []
    adopted += _store(job, rows, takes_over=takes_over)
    if adopted:
        _log.info("files in the trash taken over", library=library_id, files=adopted)
    return adopted


def _trashed(folder: Path) -> Iterator[str]:
    """The paths of what may be files in the trash, from the library's folder."""
    # What cannot be listed here, the scan that follows says.
    for above, folders, _ in os.walk(folder):
        if TRASH_FOLDER in folders:
            folders.remove(TRASH_FOLDER)
            trash = Path(above, TRASH_FOLDER)
            prefix = as_text(str(trash.relative_to(folder)))
            yield from (f"{prefix}/{name}" for name in _listed(trash) if _NAME.fullmatch(name))


def _listed(trash: Path) -> list[str]:
    if trash.is_symlink():
        return []
    try:
        return sorted(item.name for item in trash.iterdir())
    except FileNotFoundError:
        return []
    except OSError as problem:
        _log.warning("a trash cannot be read", folder=str(trash), problem=problem.strerror)
        return []


def _row(item: FileRef, trash_path: str) -> dict[str, Any] | None:
    seen, sidecar = item.look(), Sidecar.read(item)
    if seen is None or sidecar is None or seen.size != sidecar.size_bytes:
        return None
    return {
        "id": item.name,
        "relative_path": "/".join([*item.folders[:-1], sidecar.path]),
        "trash_path": trash_path,
        "size_bytes": sidecar.size_bytes,
        "hash_algorithm": sidecar.hash_algorithm.value,
        "content_hash": sidecar.content_hash,
    }


def _store(job: LeasedJob, rows: list[dict[str, Any]], *, takes_over: bool) -> int:
    def write(conn: Connection) -> int:
        return sum(
            conn.run(_SQL.add_entry, row) or (conn.run(_SQL.take_over, row) if takes_over else 0) for row in rows
        )

    return job.write(write) if rows else 0
