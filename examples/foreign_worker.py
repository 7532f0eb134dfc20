"""A data plane that knows nothing of Kurabito but docs/protocol.md: plain Python, plain sqlite3.

    python examples/foreign_worker.py kurabito.db [--once]

It does `hash` jobs, with sha256. It claims a job, renews its lease from a thread, checks the lease in every transaction, reads
each file without following links, and ends the job. Killed in the middle, it leaves nothing behind that another worker could
not take up: what is hashed is hashed, and the lease runs out.
"""

import hashlib
import os
import re
import secrets
import sqlite3
import sys
import threading
import time
from contextlib import contextmanager

LEASE = 30_000_000
HEARTBEAT = 5.0
AT_ONCE = 50


class LeaseLost(Exception):
    """The job was cancelled or is another's: write nothing more."""


def now():
    return time.time_ns() // 1000


def connect(path):
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def transaction(connection):
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def recover(connection):
    """Take stale jobs from their workers; what becomes of them the control plane decides."""
    connection.execute(
        "UPDATE jobs SET status = 'retryable', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, "
        "error_code = 'LEASE_EXPIRED', error_message = 'the worker stopped renewing its lease', updated_at = ? "
        "WHERE status = 'running' AND (lease_expires_at IS NULL OR lease_expires_at <= ?)",
        (now(), now()),
    )


def claim(connection, owner):
    """The oldest pending hash job, now ours; None when there is none."""
    with transaction(connection):
        recover(connection)
        return connection.execute(
            "UPDATE jobs SET status = 'running', worker_id = ?, worker_heartbeat_at = ?, lease_expires_at = ?, "
            "started_at = ?, updated_at = ? "
            "WHERE id = (SELECT id FROM jobs WHERE status = 'pending' AND kind = 'hash' ORDER BY created_at, id LIMIT 1) "
            "RETURNING id, library_id",
            (owner, now(), now() + LEASE, now(), now()),
        ).fetchone()


def renew(connection, job, owner, done):
    """Begin every transaction with this: a worker that lost the lease finds out before anything is stored."""
    changed = connection.execute(
        "UPDATE jobs SET processed_items = ?, worker_heartbeat_at = ?, lease_expires_at = ?, updated_at = ? "
        "WHERE id = ? AND status = 'running' AND worker_id = ?",
        (done, now(), now() + LEASE, now(), job, owner),
    ).rowcount
    if not changed:
        raise LeaseLost(job)


def finish(connection, job, owner, done, status, code=None, message=None):
    with transaction(connection):
        renew(connection, job, owner, done)
        connection.execute(
            "UPDATE jobs SET status = ?, progress = 1, error_code = ?, error_message = ?, finished_at = ?, "
            "worker_heartbeat_at = ?, lease_expires_at = NULL, updated_at = ? "
            "WHERE id = ? AND status = 'running' AND worker_id = ?",
            (status, code, message, now(), now(), now(), job, owner),
        )


def name_of(text):
    """The name that a text of the database stands for: bytes that are no UTF-8 are escaped there."""
    found = re.sub(
        "[\uef80-\uefff]+",
        lambda run: bytes(ord(char) & 0xFF for char in run[0]).decode("utf-8", "surrogateescape"),
        text,
    )
    return os.fsencode(found)


def open_below(root, relative_path):
    """Open a file below a folder, part by part and without following a link."""
    *folders, name = relative_path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)):
        raise OSError(f"{relative_path!r} does not stay below its folder")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(name_of(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name_of(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)


def digest(root, relative_path):
    """Hash of a file, its size and mtime; None when it changed while it was read."""
    with os.fdopen(open_below(root, relative_path), "rb") as file:
        before = os.fstat(file.fileno())
        found = hashlib.file_digest(file, "sha256").digest()
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        return None
    return found, after.st_size, after.st_mtime_ns


def hash_files(connection, job, library, owner, progress, lost):
    """Hash what has to be hashed, some files at a time."""
    (root,) = connection.execute("SELECT root_path FROM library_roots WHERE id = ?", (library,)).fetchone()
    last = 0
    while True:
        files = connection.execute(
            "SELECT id, relative_path FROM library_files WHERE library_id = ? AND needs_hash = 1 AND is_missing = 0 "
            "AND (hash_retry_after IS NULL OR hash_retry_after <= ?) AND id > ? ORDER BY id LIMIT ?",
            (library, now(), last, AT_ONCE),
        ).fetchall()
        if not files:
            return
        found, failed = [], []
        for file, path in files:
            if lost.is_set():
                raise LeaseLost(job)
            try:
                if (known := digest(root, path)) is not None:
                    found.append((*known, now(), now(), file))
            except OSError as problem:
                failed.append((str(problem), now(), now() + 60_000_000, now(), file))
        last = files[-1][0]
        with transaction(connection):
            renew(connection, job, owner, progress[0] + len(files))
            connection.executemany(
                "UPDATE library_files SET hash_algorithm = 'sha256', content_hash = ?, hashed_size_bytes = ?, "
                "hashed_mtime_ns = ?, hashed_at = ?, needs_hash = 0, updated_at = ? WHERE id = ?",
                found,
            )
            connection.executemany(
                "UPDATE library_files SET hash_error_count = hash_error_count + 1, hash_last_error = ?, "
                "hash_last_error_at = ?, hash_retry_after = ?, updated_at = ? WHERE id = ?",
                failed,
            )
        progress[0] += len(files)


def keep_alive(path, job, owner, progress, ended, lost):
    """Renew the lease while the work computes."""
    connection = connect(path)
    while not ended.wait(HEARTBEAT):
        try:
            with transaction(connection):
                renew(connection, job, owner, progress[0])
        except LeaseLost:
            lost.set()
            return


def work(path, connection, name):
    """Do one job; false when there is none."""
    owner = f"{name}#{secrets.token_hex(8)}"
    claimed = claim(connection, owner)
    if claimed is None:
        return False
    job, library = claimed
    progress, ended, lost = [0], threading.Event(), threading.Event()
    heart = threading.Thread(target=keep_alive, args=(path, job, owner, progress, ended, lost), daemon=True)
    heart.start()
    try:
        hash_files(connection, job, library, owner, progress, lost)
        finish(connection, job, owner, progress[0], "completed")
        print(f"hashed {progress[0]} files", flush=True)
    except LeaseLost:
        print(f"job {job} is not ours any more", flush=True)
    except OSError as problem:
        finish(connection, job, owner, progress[0], "failed", "WORKER_FAILURE", str(problem))
    finally:
        ended.set()
        heart.join()
    return True


def main(path, *options):
    connection = connect(path)
    name = f"foreign-{os.getpid()}"
    while work(path, connection, name) or "--once" not in options:
        time.sleep(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
