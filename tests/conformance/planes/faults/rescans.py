"""Faults of scans that meet what is not usual."""

from __future__ import annotations

from typing import Any

from tests.conformance.planes.faults.fault import edit, fault, nothing, put

from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.dataplane.scan import finish, known_files, scanner, session, trash_adoption
from kurabito.dataplane.scan.finish import SizeIndex
from kurabito.dataplane.scan.queries import SQL
from kurabito.dataplane.scan.session import ScanProgress
from kurabito.dataplane.scan.trash_adoption import adopt_trash


@fault("VALUE-4")
def takes_an_unknown_inode_for_any() -> None:
    differences = known_files.differences

    def alike(seen: Any, known: Any, back: Any) -> Any:
        there = {entry[0]: entry for entry in seen}
        return differences(seen, [there.get(each[0], each) if each[3] is None else each for each in known], back)

    put(known_files, "differences", alike)


@fault("SCAN-1")
def leaves_other_sessions() -> None:
    edit(SQL, "abandon_others", "AND job_id <> :job", "AND job_id <> :job AND 1 = 0")


@fault("SCAN-5")
def keeps_errors_to_itself() -> None:
    put(ScanProgress, "note_problem", nothing)


@fault("SCAN-5")
def names_every_error() -> None:
    put(session, "NAMED_PROBLEMS", 1000)


@fault("SCAN-8")
def marks_missing_what_it_could_not_see() -> None:
    settle = scanner._Scan._settle

    def settle_all(scan: Any) -> None:
        errors, scan._session.errors = scan._session.errors, 0
        finish.mark_missing(scan._session, scan._writer)
        scan._session.errors = errors
        settle(scan)

    put(scanner._Scan, "_settle", settle_all)


@fault("SCAN-9")
def does_not_say_where_it_ended() -> None:
    edit(SQL, "mark_session", "resume_after = :after", "resume_after = NULL")


@fault("SCAN-11")
def takes_over_every_trash() -> None:
    run = scanner._Scan.run

    def run_and_adopt(scan: Any, prefetch: Any) -> None:
        adopt_trash(scan._job, scan._library.id, scan._library.folder)
        run(scan, prefetch)

    put(scanner._Scan, "run", run_and_adopt)


@fault("TRASH-6")
def takes_over_what_has_another_size() -> None:
    def row(item: Any, trash_path: str) -> Any:
        found = Sidecar.read(item)
        return found and {
            "id": item.name,
            "relative_path": found.path,
            "trash_path": trash_path,
            "size_bytes": found.size_bytes,
            "hash_algorithm": found.hash_algorithm.value,
            "content_hash": found.content_hash,
        }

    put(trash_adoption, "_row", row)


@fault("CAND-2")
def looks_for_candidates_only_after_changes() -> None:
    put(finish, "_is_unsettled", lambda *_: False)


@fault("CAND-3")
def has_files_wait_for_nothing() -> None:
    put(SizeIndex, "to_hash", lambda _, seen: set(seen.sizes))
    put(finish, "choose_candidates", nothing)
