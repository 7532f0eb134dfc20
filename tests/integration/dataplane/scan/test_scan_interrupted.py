"""A scan whose worker died goes on where it stopped, and ends as if nothing had happened."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.db import leases
from kurabito.protocol.leased.jobs import JOBS

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Dying, Shelf

COLUMNS = (
    "id, library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, is_missing, hash_algorithm, "
    "content_hash, created_at, updated_at"
)
SESSION = (
    "status, total_paths, files_seen, directories_seen, bytes_seen, added_count, changed_count, moved_count, "
    "removed_count, error_count, error_code"
)


class Story:
    """A library that was scanned, hashed and then changed; it can be told again and again."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        for number in range(30):
            shelf.write(f"show {number % 4}/{number:02}.mkv", b"x" * (number % 9))
        shelf.scan()
        shelf.hash_everything()
        self._before = shelf.ask(f"SELECT {COLUMNS} FROM library_files")
        for number in range(0, 30, 7):
            (shelf.folder / f"show {number % 4}/{number:02}.mkv").unlink()
        (shelf.folder / "show 2").rename(shelf.folder / "a show")
        for number in range(12):
            shelf.write(f"new/{number}/{number}.mkv", b"y" * number)
        shelf.write("show 3/03.mkv", b"changed")
        os.utime(shelf.folder / "show 3/03.mkv", ns=(5, 5))
        (shelf.folder / "z" / "empty").mkdir(parents=True)

    def tell(self, scan: Callable[[str], None]) -> tuple[Any, ...]:
        """Begin with what was known before, let it be scanned, and see what is known then."""
        shelf = self._shelf
        for table in ("library_files", "scan_sessions", "scan_findings", "jobs"):
            shelf.change(f"DELETE FROM {table}")
        names = COLUMNS.split(", ")
        for row in self._before:
            marks = ", ".join(f":{name}" for name in names)
            values = dict(zip(names, row, strict=True))
            shelf.change(f"INSERT INTO library_files ({COLUMNS}) VALUES ({marks})", **values)
        scan(shelf.begin())
        return self._outcome()

    def _outcome(self) -> tuple[Any, ...]:
        kept = {row[0] for row in self._before}
        rows = {
            path: (number if number in kept else "new", *cells)
            for path, (number, *cells) in self._shelf.files(
                "id, size_bytes, mtime_ns, inode, device, needs_hash, is_missing, content_hash", "1 = 1"
            ).items()
        }
        groups = self._shelf.ask("SELECT * FROM duplicate_groups ORDER BY content_hash")
        return rows, self._shelf.session(SESSION), groups, self._shelf.ask("SELECT * FROM scan_findings")


def test_interrupted_at_any_transaction_it_ends_as_if_it_had_not_been(shelf: Shelf, dying: type[Dying]) -> None:
    story = Story(shelf)
    expected = story.tell(lambda _: _work(shelf))
    assert expected[1][0] == "succeeded"
    assert expected[1][5:9] == (12, 1, 6, 5)

    transactions = 0
    completed = False
    while not completed:
        scanner = dying(shelf.state, transactions=transactions)

        def scan(job: str, scanner: Dying = scanner) -> None:
            shelf.work(scanner)
            if scanner.left < 0:
                shelf.again(job)
                _work(shelf)

        assert story.tell(scan) == expected, f"died after {transactions} transactions"
        completed = scanner.left >= 0
        transactions += 1
    assert transactions > 15


@pytest.mark.parametrize("transactions", [6, 8, 11])
def test_interrupted_again_and_again_it_ends_as_if_it_had_not_been(
    shelf: Shelf, dying: type[Dying], transactions: int
) -> None:
    story = Story(shelf)
    expected = story.tell(lambda _: _work(shelf))

    def scan(job: str) -> None:
        while True:
            scanner = dying(shelf.state, transactions=transactions)
            shelf.work(scanner)
            if scanner.left >= 0:
                return
            shelf.again(job)

    assert story.tell(scan) == expected


def test_a_worker_that_lost_its_lease_stores_nothing_more(shelf: Shelf) -> None:
    for number in range(30):
        shelf.write(f"{number:02}.mkv")
    job = shelf.begin()
    stored: list[object] = []

    def look() -> list[object]:
        return [shelf.ask(f"SELECT * FROM {table}") for table in ("library_files", "scan_sessions", "scan_findings")]

    def lose(held: LeasedJob) -> None:
        report = held.report

        def reporting(processed: int, progress: float) -> None:
            report(processed, progress)
            if processed == 8:
                # It slept for longer than its lease, and somebody noticed.
                while not shelf.database.write_blocking(lambda conn: leases.recover(conn, JOBS)):
                    shelf.clock.advance(31)
                stored.extend(look())

        held.report = reporting  # type: ignore[method-assign]
        Scanner(shelf.state, chunk=4)(held)

    shelf.work(lose)
    assert shelf.ask("SELECT status, error_code FROM jobs") == [("retryable", "LEASE_EXPIRED")]
    assert stored == look()
    # What was under way at that moment is stored whole or not at all.
    assert len(shelf.files()) in (4, 8)
    shelf.again(job)
    _work(shelf)
    assert shelf.known() == shelf.on_disk()
    assert shelf.counts()["added"] == 30


def test_what_one_worker_did_not_see_and_the_next_does_is_not_missing(shelf: Shelf, dying: type[Dying]) -> None:
    shelf.write("a.mkv")
    shelf.write("z.mkv")
    shelf.scan()
    (shelf.folder / "z.mkv").rename(shelf.folder.parent / "z.mkv")
    job = shelf.begin()
    shelf.work(dying(shelf.state, transactions=2))
    assert shelf.ask("SELECT finding FROM scan_findings") == [("unseen",)]
    (shelf.folder.parent / "z.mkv").rename(shelf.folder / "z.mkv")
    shelf.again(job)
    shelf.work()
    assert set(shelf.files()) == {"a.mkv", "z.mkv"}


def test_a_scan_that_is_done_is_not_done_again(shelf: Shelf) -> None:
    shelf.write("a.mkv")
    job = shelf.begin()
    _work(shelf)
    # Its worker died before it could say that the job is done.
    shelf.again(job)
    _work(shelf)
    assert shelf.ask("SELECT status FROM scan_sessions") == [("succeeded",)]
    assert shelf.ask("SELECT status, processed_items FROM jobs") == [("completed", 1)]


def test_a_scan_that_was_given_up_is_closed_by_the_next(shelf: Shelf, dying: type[Dying]) -> None:
    shelf.write("a.mkv")
    shelf.write("b.mkv")
    shelf.scan()
    (shelf.folder / "a.mkv").unlink()
    shelf.scan(dying(shelf.state, transactions=2))
    assert shelf.ask("SELECT finding FROM scan_findings") == [("unseen",)]
    shelf.write("a.mkv", b"again")
    shelf.scan()
    assert [status for (status,) in shelf.ask("SELECT status FROM scan_sessions ORDER BY id")] == [
        "succeeded",
        "failed",
        "succeeded",
    ]
    assert shelf.ask("SELECT * FROM scan_findings") == []
    assert shelf.missing() == set()


def _work(shelf: Shelf) -> None:
    assert shelf.work()
    assert shelf.ask("SELECT status FROM jobs") in ([("completed",)], [("completed",)] * 2)
