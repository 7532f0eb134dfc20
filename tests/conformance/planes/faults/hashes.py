"""Faults of hashes. Files are read in other processes, so that what they find is spoilt where it is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.planes.faults.fault import edit, fault, nothing, put, unrestricted

from kurabito.dataplane.hashing import job, store
from kurabito.dataplane.hashing.store import HashedLibrary
from kurabito.dataplane.readers.pool import MOST_FILES
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import HASH_DOUBLINGS, LONGEST_PATH

_SQL = store._SQL


def _spoil(name: str, spoilt: Callable[[bytes], Any]) -> None:
    """Change every digest before it is stored."""
    note = getattr(store, name)
    put(store, name, lambda conn, found, *rest: note(conn, [(row, spoilt(digest)) for row, digest in found], *rest))


def _swallow(code: str, *, hashes: bool, above: int = 0) -> None:
    """Have files with this problem, of this size at least, pass, or be hashed as if they had none."""
    note = store.note_problems

    def note_others(conn: Any, problems: Any) -> None:
        passing = [(row, problem[0] == code and row.size_bytes >= above) for row, problem in problems]
        note(conn, [one for one, (_, passes) in zip(problems, passing, strict=True) if not passes])
        passed = [(row, b"\1" * 32) for row, passes in passing if passes]
        if hashes:
            store.note_contents(conn, passed, HashAlgorithm.BLAKE3)

    put(store, "note_problems", note_others)


def _find_instead(code: str, of: Callable[[str], bool]) -> None:
    """Have some paths end with another problem."""
    note = store.note_problems

    def note_others(conn: Any, problems: Any) -> None:
        note(conn, [(row, (code, "found") if of(row.relative_path) else why) for row, why in problems])

    put(store, "note_problems", note_others)


@fault("HASH-1")
def stores_digits() -> None:
    _spoil("note_contents", bytes.hex)


@fault("HASH-1")
def stores_half_a_digest() -> None:
    _spoil("note_edges", lambda digest: digest[:16])


@fault("HASH-2")
def has_the_wrong_algorithm() -> None:
    unrestricted()
    other = {HashAlgorithm.BLAKE3: HashAlgorithm.SHA256, HashAlgorithm.SHA256: HashAlgorithm.BLAKE3}
    find = store.library

    def library(conn: Any, library_id: int) -> HashedLibrary | None:
        found = find(conn, library_id)
        return found and found._replace(algorithm=other[found.algorithm])

    put(store, "library", library)
    query: Any = _SQL.note_contents
    query._sqlite = query._sqlite.rpartition("\n  AND ")[0] + ";"


@fault("HASH-2", check="a hash is that of the content")
def hashes_something_else() -> None:
    _spoil("note_contents", lambda digest: digest[::-1])


@fault("HASH-3")
def samples_where_all_is_hashed() -> None:
    find = store.library

    def library(conn: Any, library_id: int) -> HashedLibrary | None:
        found = find(conn, library_id)
        return found and found._replace(every_file=False)

    put(store, "library", library)


@fault("HASH-3")
def forgets_what_was_settled_by_its_sample() -> None:
    put(store, "want_sampled", nothing)


@fault("HASH-4")
def takes_another_sample() -> None:
    _spoil("note_edges", lambda digest: digest[::-1])


@fault("HASH-5")
def forgets_the_twin() -> None:
    put(store, "want_twins", nothing)


@fault("HASH-5")
def sees_no_twins_without_a_sample() -> None:
    edit(_SQL, "sampled", "other.edge_hash IS NULL", "other.edge_hash IS NULL AND 1 = 0")


@fault("HASH-5")
def sees_no_twins() -> None:
    sampled = store.sampled
    put(store, "sampled", lambda *args: [(row, False) for row, _ in sampled(*args)])


@fault("HASH-6", check="a file that changed has no hash")
def hashes_what_changed() -> None:
    _swallow("FILE_CHANGED", hashes=True)


@fault("HASH-6", check="what changes while it is read has no hash")
def hashes_what_changes_while_it_is_read() -> None:
    # What changes in the middle is the one large file.
    _swallow("FILE_CHANGED", hashes=True, above=1 << 20)


@fault("HASH-7", check="what was read is written whole")
def forgets_the_mtime() -> None:
    query: Any = _SQL.note_contents
    assert "hashed_at = :now, " in query._sqlite
    query._sqlite = query._sqlite.replace("hashed_at = :now, ", "hashed_at = NULL, ")


@fault("HASH-8", check="what cannot be read is put off")
def tries_again_at_once() -> None:
    put(store, "_FIRST_WAIT", 1)


@fault("HASH-8")
def never_doubles() -> None:
    edit(_SQL, "note_problems", "1 << CAST(hash_error_count AS integer)", "1")


@fault("HASH-8")
def counts_a_change_as_a_failure() -> None:
    edit(
        _SQL,
        "note_problems",
        "hash_error_count = hash_error_count + ",
        "hash_error_count = hash_error_count + 1 + 0 * ",
    )


@fault("HASH-9", check="nothing that is due is left")
def completes_without_all_files() -> None:
    unsampled = store.unsampled
    put(
        store, "unsampled", lambda *args: [row for row in unsampled(*args) if not row.relative_path.startswith("small")]
    )


@fault("HASH-9")
def reads_what_is_not_due() -> None:
    edit(_SQL, "unsampled", "hash_retry_after <= :now", "hash_retry_after <= :now * 2")


@fault("PATH-3")
def reads_what_lies_outside() -> None:
    _swallow("PATH_ESCAPES", hashes=True)


@fault("PATH-3")
def follows_paths_of_any_length() -> None:
    _find_instead("FILE_UNREADABLE", lambda path: len(path) > LONGEST_PATH)


@fault("PATH-3")
def follows_a_link_on_the_way() -> None:
    # Where it leads, another file has the name.
    _find_instead("FILE_CHANGED", lambda path: "/linked folder/" in path)


@fault("PATH-5")
def says_nothing_of_a_pipe() -> None:
    _swallow("FILE_UNREADABLE", hashes=False)


@fault("HASH-5")
def settles_by_a_sample_where_all_is_hashed() -> None:
    def decide(hashing: Any, after: Any, conn: Any) -> Any:
        page = store.sampled(conn, hashing._job.library_id, after, MOST_FILES)
        store.settle_unique(conn, [row for row, has_twin in page if not has_twin])
        store.want_twins(conn, [row for row, has_twin in page if has_twin])
        return page

    put(job._Hashing, "_decide", decide)


@fault("HASH-8")
def has_its_own_codes() -> None:
    note = store.note_problems
    put(
        store,
        "note_problems",
        lambda conn, problems: note(conn, [(row, ("ENOENT", text)) for row, (_, text) in problems]),
    )


@fault("PLANE-5")
def takes_alike_for_equal() -> None:
    note = store.note_contents

    def note_sizes(conn: Any, found: Any, algorithm: HashAlgorithm) -> None:
        note(conn, [(row, row.size_bytes.to_bytes(32, "big")) for row, _ in found], algorithm)

    put(store, "note_contents", note_sizes)


@fault("HASH-9")
def reads_what_is_of_another_library() -> None:
    of_two = "(library_id = :library_id OR library_id = 2)"
    edit(store._SQL, "unsampled", "library_id = :library_id", of_two)


@fault("HASH-10")
def blames_files_for_their_folder() -> None:
    put(job, "_opened", lambda _: (0, 0))
    put(job, "_is_in_place", lambda *_: True)


@fault("HASH-11")
def settles_large_files_unread() -> None:
    ask = job._Hashing._ask

    def ask_or_guess(hashing: Any, portion: Any) -> None:
        whole, rows = portion
        if whole and job._is_large(rows[0]):
            hashing._taken.contents.append((rows[0], b"\1" * 32))
        else:
            ask(hashing, portion)

    put(job._Hashing, "_ask", ask_or_guess)


@fault("HASH-6")
def does_not_compare_inodes() -> None:
    put(job, "_wanted", lambda row: (row.relative_path, row.size_bytes, row.mtime_ns, None, None))


@fault("HASH-8")
def doubles_for_ever() -> None:
    edit(_SQL, "note_problems", f"hash_error_count < {HASH_DOUBLINGS}", "hash_error_count < 60")


@fault("HASH-8", check="a row of another file is left")
def blames_a_row_of_another_file() -> None:
    edit(_SQL, "note_problems", "AND library_files.mtime_ns = :mtime_ns", "AND :mtime_ns <> 0")


@fault("HASH-2", check="another algorithm is noticed")
def keeps_to_the_algorithm_of_the_beginning() -> None:
    def note(hashing: Any, conn: Any, found: Any) -> None:
        store.note_contents(conn, found, hashing._library.algorithm)

    put(job._Hashing, "_note_contents", note)


@fault("PATH-5")
def waits_for_the_writer_of_a_pipe() -> None:
    ask = job._Hashing._ask

    def ask_but_pipes(hashing: Any, portion: Any) -> None:
        _, rows = portion
        while any(row.relative_path.endswith("pipe") for row in rows):
            hashing._job.check()
            hashing._job.wait(0.1)
        ask(hashing, portion)

    put(job._Hashing, "_ask", ask_but_pipes)
