"""Faults of scans that meet what is not usual."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from tests.conformance.planes.faults.fault import Proxy, edit, fault, nothing, put

from kurabito.dataplane.files import ignore
from kurabito.dataplane.files.births import Birth
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.dataplane.scan import comebacks, finish, known_files, scanner, session, trash_adoption
from kurabito.dataplane.scan.comebacks import Comeback
from kurabito.dataplane.scan.finish import SizeIndex
from kurabito.dataplane.scan.queries import SQL
from kurabito.dataplane.scan.session import ScanProgress
from kurabito.dataplane.scan.trash_adoption import adopt_trash
from kurabito.protocol.terms import NAMED_PROBLEMS


@fault("VALUE-4", check="an unknown inode is a difference")
def takes_an_unknown_inode_for_any() -> None:
    differences = known_files.differences

    def alike(seen: Any, known: Any, back: Any) -> Any:
        there = {entry[0]: entry for entry in seen}
        return differences(seen, [there.get(each[0], each) if each[3] is None else each for each in known], back)

    put(known_files, "differences", alike)


@fault("SCAN-1", check="a scan goes on where it was")
def leaves_other_sessions() -> None:
    edit(SQL, "abandon_others", "AND job_id <> :job", "AND job_id <> :job AND 1 = 0")


@fault("SCAN-5")
def keeps_errors_to_itself() -> None:
    put(ScanProgress, "note_problem", nothing)


@fault("SCAN-5")
def names_every_error() -> None:
    put(session, "NAMED_PROBLEMS", 1000)


@fault("SCAN-5")
def breaks_lines_in_paths() -> None:
    def note(self: ScanProgress, path: str, problem: OSError) -> None:
        self.errors += 1
        if len(self.unreadable) < NAMED_PROBLEMS:
            self.unreadable.append(f"'{path}': {problem.strerror}")

    put(ScanProgress, "note_problem", note)


@fault("SCAN-8", check="without all folders nothing is missing")
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


@fault("CAND-2", check="another policy is noticed")
def looks_for_candidates_only_after_changes() -> None:
    put(finish, "_is_unsettled", lambda *_: False)


@fault("CAND-2", check="a placed file is noticed")
def does_not_look_for_what_was_placed() -> None:
    edit(SQL, "unsettled", "status = 'completed'", "status = 'settled'")


@fault("CAND-3")
def has_files_wait_for_nothing() -> None:
    put(SizeIndex, "to_hash", lambda _, seen: set(seen.sizes))
    put(finish, "choose_candidates", nothing)


@fault("MOVE-5")
def trusts_what_returns_with_a_birth_that_is_near() -> None:
    put(comebacks, "_JUDGED", {**comebacks._JUDGED, Birth.NEAR: Comeback.SAME})


@fault("MOVE-1", check="links are paired in order")
def pairs_links_from_the_end() -> None:
    edit(
        SQL, "moved_files", "ORDER BY id) AS place", "ORDER BY CASE finding WHEN 'added' THEN -id ELSE id END) AS place"
    )


@fault("MOVE-4")
def counts_what_moved_as_added() -> None:
    def count(conn: Any, of: Any, **counts: int) -> None:
        session.count(conn, of, **{name: max(0, number) for name, number in counts.items()})

    put(finish, "scan_session", Proxy(session, count=count))


@fault("SCAN-10")
def keeps_the_inode_that_a_changed_file_shared() -> None:
    edit(SQL, "change_files", "shared_inode = NULL", "shared_inode = shared_inode")


@fault("SCAN-1", check="a session begins with what the last one counted")
def begins_without_a_total() -> None:
    edit(SQL, "begin_session", "AND status = 'succeeded'", "AND status = 'succeeded' AND 1 = 0")


@fault("SCAN-1", check="a session begins with what the last one counted")
def begins_with_what_a_scan_counted_that_failed() -> None:
    edit(SQL, "begin_session", "AND status = 'succeeded'", "AND status <> 'running'")


@fault("SCAN-3")
def believes_a_tree_without_files() -> None:
    note = scanner._Scan._note_what_is_left

    def note_all(scan: Any) -> None:
        scan._session.files += 1
        note(scan)
        scan._session.files -= 1

    put(scanner._Scan, "_note_what_is_left", note_all)


@fault("IGNORE-1")
def takes_a_caret_for_not() -> None:
    put(ignore, "fnmatchcase", lambda name, pattern: fnmatchcase(name, pattern.replace("[^", "[!")))


@fault("PROGRESS-1", check="a scan counts files and folders")
def does_not_count_the_last_folders() -> None:
    run = scanner._Scan.run

    def run_and_forget(scan: Any, prefetch: Any) -> None:
        report, count, chunks = scan._job.report, scan._count, []

        def count_and_keep(chunk: Any) -> None:
            chunks.append(chunk)
            count(chunk)

        scan._count = count_and_keep
        scan._job.report = lambda *done: report(*done) if chunks[-1].count else None
        run(scan, prefetch)

    put(scanner._Scan, "run", run_and_forget)
