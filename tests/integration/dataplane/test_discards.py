"""Files that their keeper deleted, when a worker is lost in the middle: nothing is lost, and nothing stays half done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.removal import successor
from kurabito.library.deletion.delete_jobs import order_delete_job
from kurabito.library.deletion.discards import Discards
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

CONTENT = b"no other copy"


class Killed(BaseException):
    """What ends a worker in the middle."""


def work(shelf: Shelf) -> bool:
    return Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()


def told(shelf: Shelf) -> list[tuple[object, ...]]:
    return shelf.all("SELECT state, error_code FROM deletion_log WHERE action = 'trash'")


async def lose_a_worker(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, *, after_the_move: bool) -> str:
    """Delete a file, and lose the worker right before or after the file is moved."""
    file = shelf.put("show/a.mkv", CONTENT)
    job_id = await Discards(shelf.database, allowed=True).discard([file])
    retire = successor.retire

    def killed(*args: object) -> None:
        if after_the_move:
            retire(*args)  # type: ignore[arg-type]
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(successor, "retire", killed)
        with pytest.raises(Killed):
            work(shelf)
    assert told(shelf) == [("intent", None)]
    shelf.run("UPDATE jobs SET lease_expires_at = 1 WHERE status = 'running'")
    return job_id


@pytest.mark.parametrize("after_the_move", [False, True])
async def test_the_next_worker_finishes_what_was_begun(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, after_the_move: bool
) -> None:
    job_id = await lose_a_worker(shelf, monkeypatch, after_the_move=after_the_move)
    assert not work(shelf)
    # It was taken from the dead worker; the control plane has it done again.
    shelf.run("UPDATE jobs SET status = 'pending' WHERE status = 'retryable'")
    assert work(shelf)
    assert told(shelf) == [("done", None)]
    ((path,),) = shelf.all("SELECT trash_path FROM trash_entries WHERE left_at IS NULL")
    assert shelf.path(path).read_bytes() == CONTENT
    assert not shelf.path("show/a.mkv").exists()
    found = await Discards(shelf.database, allowed=True).outcome(job_id)
    assert found is not None
    assert (len(found.entries), found.refusals, found.is_under_way) == (1, (), False)


@pytest.mark.parametrize("is_taken", [False, True])
async def test_another_job_puts_back_what_nobody_finishes(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    await lose_a_worker(shelf, monkeypatch, after_the_move=True)
    shelf.run("UPDATE jobs SET status = 'cancelled', worker_id = NULL, lease_expires_at = NULL")
    place = shelf.path("show/a.mkv")
    if is_taken:
        place.write_bytes(b"another file with its name")
    shelf.database.write_blocking(lambda conn: order_delete_job(conn, {"restore": []}, dry_run=False, total=0))
    assert work(shelf)
    if not is_taken:
        assert place.read_bytes() == CONTENT
        assert told(shelf) == [("refused", "WORKER_LOST")]
        assert list(shelf.path(".kurabito-trash").iterdir()) == []
        return
    # It stays in the trash, and the trash knows it.
    assert told(shelf) == [("done", None)]
    ((path, is_discarded),) = shelf.all("SELECT trash_path, is_discarded FROM trash_entries")
    assert (shelf.path(path).read_bytes(), is_discarded) == (CONTENT, 1)
