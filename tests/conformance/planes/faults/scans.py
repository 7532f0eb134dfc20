"""Faults of scans."""

from __future__ import annotations

import os
from typing import Any

from tests.conformance.planes.faults.fault import Proxy, edit, fault, nothing, put

from kurabito.dataplane.files import births, ignore, walk
from kurabito.dataplane.files.births import Birth
from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.jobs import JobFailed
from kurabito.dataplane.scan import comebacks, finish, known_files, scanner
from kurabito.dataplane.scan.chunks import Columns
from kurabito.dataplane.scan.comebacks import Comeback
from kurabito.dataplane.scan.queries import SQL
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.terms import IGNORED


@fault("PATH-1")
def writes_absolute_paths() -> None:
    edit(SQL, "add_files", "SELECT :library, relative_path", "SELECT :library, '/' || relative_path")


@fault("PATH-2")
def replaces_odd_bytes() -> None:
    put(walk, "is_plain", lambda _: True)
    put(walk, "as_text", lambda name: name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    put(walk, "is_plain", lambda names: names.isascii())


@fault("PATH-2")
def normalizes_names() -> None:
    edit(SQL, "add_files", "SELECT :library, relative_path", "SELECT :library, replace(relative_path, 'é', 'e\u0301')")


@fault("PATH-4")
def stores_backwards() -> None:
    add = known_files.add

    def add_backwards(conn: Any, library: int, files: Columns, to_hash: set[int]) -> None:
        add(conn, library, Columns.of(files.files()[::-1]), to_hash)

    put(known_files, "add", add_backwards)


@fault("SCAN-4")
def follows_links() -> None:
    put(walk, "os", Proxy(os, stat=lambda name, *, dir_fd, follow_symlinks: os.stat(name, dir_fd=dir_fd)))


@fault("SCAN-4")
def scans_its_own_state() -> None:
    put(Scanner, "_closed", lambda _: frozenset())


@fault("SCAN-4")
def passes_over_hidden_files() -> None:
    keep = Ignored.keep
    put(
        Ignored,
        "keep",
        lambda rules, folder, names: [name for name in keep(rules, folder, names) if not name.startswith(".hid")],
    )


@fault("TRASH-2")
def indexes_the_trash() -> None:
    put(walk, "_TRASH", "no such folder/")
    put(ignore, "IGNORED", tuple(pattern for pattern in IGNORED if "kurabito" not in pattern))


@fault("IGNORE-1")
def ignores_nothing() -> None:
    put(Ignored, "keep", lambda _, __, names: names)


@fault("IGNORE-1")
def knows_no_exceptions() -> None:
    def is_ignored(rules: Any, path: str) -> bool:
        parts = path.rstrip("/").split("/")
        return any(rule.ignores and rule.matches(parts, path.endswith("/")) for rule in rules._rules)

    put(Ignored, "_is_ignored", is_ignored)


@fault("IGNORE-1")
def knows_only_its_own_list() -> None:
    init = Ignored.__init__
    put(Ignored, "__init__", lambda rules, patterns=(): init(rules, ()))


@fault("VALUE-4")
def stores_half_an_inode() -> None:
    _shift_column("inode")


@fault("SCAN-6", check="rows say what the disk says")
def rounds_mtimes() -> None:
    _shift_column("mtime_ns")


def _shift_column(name: str) -> None:
    """Have a number be wrong in every row, new or changed."""
    place = ("paths", "sizes", "mtime_ns", "inode", "device").index(name)
    stored = known_files._stored

    def shifted(files: Columns, to_hash: set[int]) -> Any:
        columns: list[Any] = list(files)
        columns[place] = [number - number % 1000 + 1 for number in columns[place]]
        return stored(Columns(*columns), to_hash)

    put(known_files, "_stored", shifted)


@fault("SCAN-6", check="new rows have no hash")
def has_new_files_share_their_inode() -> None:
    edit(SQL, "add_files", "needs_hash, created_at, updated_at)", "needs_hash, shared_inode, created_at, updated_at)")
    edit(SQL, "add_files", "needs_hash, :now, :now", "needs_hash, inode, :now, :now")


@fault("SCAN-10")
def keeps_the_hash_of_a_changed_file() -> None:
    edit(SQL, "change_files", "hash_algorithm = NULL, content_hash = NULL, ", "")


@fault("SCAN-7", check="the session counts")
def counts_one_too_many() -> None:
    edit(SQL, "mark_session", "files_seen = :files", "files_seen = :files + 1")


@fault("SCAN-7")
def does_not_count_what_it_added() -> None:
    edit(SQL, "count_in_session", "added_count = added_count + :added", "added_count = added_count")


@fault("SCAN-8", check="what was not seen is missing")
def never_marks_missing() -> None:
    put(finish, "mark_missing", nothing)


@fault("SCAN-8")
def marks_missing_what_was_put_back() -> None:
    edit(SQL, "mark_missing", "AND updated_at <= (SELECT started_at FROM scan_sessions WHERE id = :session)", "")


@fault("SCAN-8")
def leaves_findings() -> None:
    put(finish, "forget_findings", nothing)


@fault("SCAN-8", check="nothing is missing before the end")
def marks_missing_at_once() -> None:
    store = known_files.store

    def store_and_mark(conn: Any, library: int, found: Any, to_hash: set[int]) -> None:
        for path in found.unseen:
            sql = "UPDATE library_files SET is_missing = 1, updated_at = :now WHERE library_id = :id AND relative_path = :path"
            conn.run(sql, {"id": library, "path": path})
        store(conn, library, found, to_hash)

    put(known_files, "store", store_and_mark)


@fault("SCAN-9")
def does_not_total() -> None:
    edit(SQL, "end_session", "files_seen + directories_seen", "NULL")


@fault("SCAN-3")
def believes_an_empty_folder() -> None:
    put(scanner._Scan, "_refuse_empty_folder", nothing)
    note = scanner._Scan._note_what_is_left

    def note_all(scan: Any) -> None:
        scan._session.files += 1
        note(scan)
        scan._session.files -= 1

    put(scanner._Scan, "_note_what_is_left", note_all)


@fault("SCAN-2")
def completes_without_a_folder() -> None:
    call = Scanner.__call__

    def swallow(of: Any, job: Any) -> None:
        try:
            call(of, job)
        except JobFailed:
            return

    put(Scanner, "__call__", swallow)


@fault("JOB-2")
def calls_a_lost_library_a_failure() -> None:
    def fail(_: Any, library: int) -> Any:
        raise JobFailed(ErrorCode.WORKER_FAILURE, f"no library {library}")

    find = scanner._find_library
    put(scanner, "_find_library", lambda conn, library: (fail if library == 999 else find)(conn, library))


@fault("SCAN-1")
def begins_every_scan_at_its_beginning() -> None:
    edit(SQL, "last_session", "WHERE job_id = :job", "WHERE job_id = :job AND files_seen = 0")


@fault("MOVE-1")
def moves_nothing() -> None:
    put(finish, "move_files", nothing)


@fault("MOVE-4")
def does_not_count_moves() -> None:
    edit(SQL, "count_in_session", "moved_count = moved_count + :moved", "moved_count = moved_count")


@fault("MOVE-2")
def takes_every_inode_for_the_known_file() -> None:
    put(births, "look_up", lambda _, asked: [Birth.BEFORE] * len(asked))


@fault("MOVE-3")
def trusts_a_birth_that_is_near() -> None:
    look_up = births.look_up
    near = {Birth.NEAR: Birth.BEFORE}
    put(births, "look_up", lambda folder, asked: [near.get(one, one) for one in look_up(folder, asked)])


@fault("MOVE-3")
def loses_the_hash_of_what_moves() -> None:
    look_up = births.look_up
    before = {Birth.BEFORE: Birth.NEAR}
    put(births, "look_up", lambda folder, asked: [before.get(one, one) for one in look_up(folder, asked)])


@fault("MOVE-5")
def takes_what_returns_for_another_file() -> None:
    put(comebacks, "_JUDGED", dict.fromkeys(Birth, Comeback.OTHER))


@fault("CAND-1")
def chooses_no_candidates() -> None:
    put(finish, "choose_candidates", nothing)


@fault("CAND-1")
def has_empty_files_hashed() -> None:
    edit(SQL, "misjudged_files", "size_bytes > 0", "size_bytes >= 0")


@fault("CAND-1")
def has_every_file_hashed() -> None:
    edit(SQL, "misjudged_files", "HAVING count(*) > 1", "HAVING count(*) > 0")
    put(finish, "_has_others", lambda *_: True)
