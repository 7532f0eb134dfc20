"""A data plane that knows nothing of Kurabito but docs/protocol.md: plain Python and the database's own driver.

    python examples/foreign_worker.py sqlite:////srv/kurabito/kurabito.db [--once]
    python examples/foreign_worker.py postgresql://kurabito@nas/kurabito [--once]      # needs psycopg
    KURABITO_DATABASE=sqlite:////srv/kurabito/kurabito.db python examples/foreign_worker.py
    kurabito conformance -- python examples/foreign_worker.py                          # does it keep the rules?

It does `hash` jobs, of libraries whose algorithm it has: sha256, and blake3 if that is installed. Each step names its rule.
Killed in the middle, it leaves nothing behind that another plane could not take up: what is hashed is hashed, and the lease
runs out.
"""

import hashlib
import json
import os
import re
import secrets
import signal
import socket
import sqlite3
import sys
import threading
import time
from contextlib import contextmanager
from stat import S_ISREG

try:
    from blake3 import blake3
except ImportError:
    blake3 = None

PROTOCOL = "1.0"
LEASE = round(float(os.environ.get("KURABITO_LEASE_SECONDS", "30")) * 1_000_000)
HEARTBEAT = float(os.environ.get("KURABITO_HEARTBEAT_SECONDS", "5"))
TURN = 60.0
AT_ONCE = 50
LONGEST_PATH = 4096
ALGORITHMS = {"sha256": hashlib.sha256, **({"blake3": blake3} if blake3 else {})}


CLAIM = """
UPDATE jobs
SET status = 'running', worker_id = ?, worker_heartbeat_at = ?, lease_expires_at = ?, started_at = ?, updated_at = ?
WHERE id = (
    SELECT id FROM jobs
    WHERE status = 'pending' AND kind = 'hash'
      AND library_id IN (SELECT id FROM library_roots WHERE CAST(? AS text) LIKE '%"' || algorithm || '"%')
    ORDER BY created_at, id LIMIT 1 SKIP LOCKED
)
RETURNING id, library_id
"""


class LeaseLost(Exception):
    """The job was cancelled or is another's: write nothing more."""


class Stopped(Exception):
    """This plane was asked to end."""


class FileProblem(Exception):
    """A file could not be read: a code of the protocol and the reason."""


class Sqlite:
    """VALUE-1, PLANE-6: the machine's time, and `BEGIN IMMEDIATE`."""

    begin, skip_locked = "BEGIN IMMEDIATE", ""

    def __init__(self, url):
        path = url.removeprefix("sqlite:///")
        self.raw = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self.raw.execute("PRAGMA synchronous = FULL")

    def run(self, sql, *values):
        return self.raw.execute(sql, values)

    def now(self):
        return time.time_ns() // 1000


class Postgres(Sqlite):
    """VALUE-1, PLANE-7: the server's time, and a role that may write no more than a data plane does."""

    begin, skip_locked = "BEGIN", "FOR UPDATE SKIP LOCKED"

    def __init__(self, url):
        import psycopg

        self.raw = psycopg.connect(url, autocommit=True)
        if self.raw.execute(
            "SELECT 1 FROM pg_roles WHERE rolname = 'kurabito_dataplane' AND pg_has_role(oid, 'MEMBER') "
            # Roles are the server's: in this database it has rights only once its control plane gave them.
            "AND has_table_privilege(oid, 'protocol_version', 'SELECT')"
        ).fetchone():
            self.raw.execute("SET ROLE kurabito_dataplane")

    def run(self, sql, *values):
        return self.raw.execute(sql.replace("%", "%%").replace("?", "%s"), values)

    def now(self):
        return self.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").fetchone()[0]


def connect(url):
    return (Postgres if url.startswith("postgres") else Sqlite)(url)


@contextmanager
def transaction(database):
    database.run(database.begin)
    try:
        yield database
    except BaseException:
        database.run("ROLLBACK")
        raise
    database.run("COMMIT")


def check_version(database):
    """VER-1: another major is another contract."""
    major, minor = database.run("SELECT major, minor FROM protocol_version").fetchone() or (None, None)
    if major != int(PROTOCOL.partition(".")[0]):
        sys.exit(f"the database speaks version {major}.{minor} of the protocol, and this program {PROTOCOL}")


def register(database, name):
    """REG-1, REG-2, VER-2, VER-4: before the first claim, and every few seconds."""
    now = database.now()
    capabilities = json.dumps([f"hash.{algorithm}" for algorithm in sorted(ALGORITHMS)])
    with transaction(database):
        database.run(
            "INSERT INTO data_planes (name, lines, version, protocol, capabilities, started_at, heartbeat_at, expires_at) "
            "VALUES (?, '[\"hash\"]', '1', ?, ?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at",
            *(name, PROTOCOL, capabilities, now, now, now + LEASE),
        )


def recover(database):
    """LEASE-6: take stale jobs from their owners; what becomes of them the control plane decides."""
    now = database.now()
    database.run(
        "UPDATE jobs SET status = 'retryable', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, "
        "error_code = 'LEASE_EXPIRED', error_message = 'the worker stopped renewing its lease', updated_at = ? "
        "WHERE status = 'running' AND (lease_expires_at IS NULL OR lease_expires_at <= ?)",
        *(now, now),
    )


def claim(database, owner):
    """LEASE-1, HASH-2: the oldest pending hash job that we can do, now ours; None when there is none."""
    with transaction(database):
        recover(database)
        now = database.now()
        return database.run(
            CLAIM.replace("SKIP LOCKED", database.skip_locked),
            *(owner, now, now + LEASE, now, now, json.dumps(sorted(ALGORITHMS))),
        ).fetchone()


def renew(database, job, owner, progress):
    """LEASE-3, LEASE-4: begin every transaction with this, so that a plane that lost the lease stores nothing."""
    now = database.now()
    done, total = progress
    changed = database.run(
        "UPDATE jobs SET processed_items = ?, progress = ?, worker_heartbeat_at = ?, lease_expires_at = ?, updated_at = ? "
        "WHERE id = ? AND status = 'running' AND worker_id = ?",
        *(done, done / max(done, total, 1), now, now + LEASE, now, job, owner),
    ).rowcount
    if not changed:
        raise LeaseLost(job)


def finish(database, job, owner, progress, status, code=None, message=None):
    """LEASE-5; and LEASE-9 for a job that is given back as `retryable`."""
    kept = owner if status != "retryable" else None
    with transaction(database):
        renew(database, job, owner, progress)
        now = database.now()
        database.run(
            "UPDATE jobs SET status = ?, progress = CASE WHEN ? = 'completed' THEN 1 ELSE progress END, error_code = ?, "
            "error_message = ?, finished_at = CASE WHEN ? = 'retryable' THEN NULL ELSE CAST(? AS bigint) END, "
            "worker_id = ?, worker_heartbeat_at = CASE WHEN ? = 'retryable' THEN NULL ELSE CAST(? AS bigint) END, "
            "lease_expires_at = NULL, updated_at = ? WHERE id = ? AND status = 'running' AND worker_id = ?",
            *(status, status, code, message, status, now, kept, status, now, now, job, owner),
        )


def name_of(text):
    """PATH-2: the name that a text of the database stands for; bytes that are no UTF-8 are escaped there."""
    found = re.sub(
        "[\uef80-\uefff]+",
        lambda run: bytes(ord(char) & 0xFF for char in run[0]).decode("utf-8", "surrogateescape"),
        text,
    )
    return os.fsencode(found)


def open_below(root, relative_path):
    """PATH-3, PATH-5: open a file below a folder, part by part and without following a link."""
    *folders, name = relative_path.split("/")
    is_odd = len(relative_path) > LONGEST_PATH or "\0" in relative_path or ".kurabito-trash" in folders
    if is_odd or any(part in ("", ".", "..") for part in (*folders, name)):
        raise FileProblem("PATH_ESCAPES", f"{relative_path[:200]!r} is no path of a file below its library")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(name_of(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name_of(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    finally:
        os.close(at)


def digest(root, algorithm, go_on, path, size, mtime_ns, inode, device):
    """HASH-2, HASH-6: the hash of a file that is, after it was read, the one that the row tells of.

    `go_on` is asked between blocks: one file may take hours.
    """
    try:
        with os.fdopen(open_below(root, path), "rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                # PATH-5: a device may have no end.
                raise FileProblem("FILE_UNREADABLE", "it is no ordinary file")
            hasher, read = ALGORITHMS[algorithm](), 0
            while block := file.read(1 << 20):
                go_on()
                hasher.update(block)
                read += len(block)
            now = os.fstat(file.fileno())
    except OSError as problem:
        raise FileProblem("FILE_UNREADABLE", problem.strerror) from None
    numbers = ((now.st_ino, inode), (now.st_dev, device))
    is_same_file = all(known is None or (number - known) % (1 << 64) == 0 for number, known in numbers)
    if (read, now.st_size, now.st_mtime_ns) != (size, size, mtime_ns) or not is_same_file:
        raise FileProblem("FILE_CHANGED", "it changed since it was last seen")
    return hasher.digest()


def due(database, library, after):
    """The next files to read, in the order of their ids."""
    return database.run(
        "SELECT id, relative_path, size_bytes, mtime_ns, inode, device FROM library_files "
        "WHERE library_id = ? AND needs_hash = 1 AND is_missing = 0 "
        "AND (hash_retry_after IS NULL OR hash_retry_after <= ?) AND id > ? ORDER BY id LIMIT ?",
        *(library, database.now(), after, AT_ONCE),
    ).fetchall()


def store(database, file, algorithm, content):
    """HASH-7: what was read, if the row still tells of it."""
    file_id, _, size, mtime_ns, *_ = file
    now = database.now()
    # HASH-3: others of its size were settled by their samples, which it has not.
    database.run(
        "UPDATE library_files SET needs_hash = 1, updated_at = ? WHERE size_bytes = ? AND size_bytes > 32768 AND is_missing = 0 "
        "AND edge_hash IS NOT NULL AND needs_hash = 0 AND content_hash IS NULL",
        *(now, size),
    )
    database.run(
        "UPDATE library_files SET hash_algorithm = ?, content_hash = ?, hashed_size_bytes = ?, hashed_mtime_ns = ?, "
        "hashed_at = ?, needs_hash = 0, hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL, "
        "hash_retry_after = NULL, updated_at = ? WHERE id = ? AND size_bytes = ? AND mtime_ns = ? AND is_missing = 0 "
        "AND ? = (SELECT algorithm FROM library_roots WHERE library_roots.id = library_files.library_id)",
        *(algorithm, content, size, mtime_ns, now, now, file_id, size, mtime_ns, algorithm),
    )


def store_problem(database, file, code, reason):
    """HASH-8: why a file could not be read, and when to try again, if the row still tells of it."""
    file_id, _, size, mtime_ns, *_ = file
    now = database.now()
    database.run(
        "UPDATE library_files SET hash_last_error = ?, hash_last_error_at = ?, hash_error_count = hash_error_count + ?, "
        "hash_retry_after = ? + CAST(60000000 AS bigint) * CASE WHEN hash_error_count < 10 "
        "THEN 1 << CAST(hash_error_count AS integer) ELSE 1024 END, updated_at = ? "
        "WHERE id = ? AND size_bytes = ? AND mtime_ns = ? AND is_missing = 0",
        *(f"{code}: {reason}", now, int(code != "FILE_CHANGED"), now, now, file_id, size, mtime_ns),
    )


def read_some(root, algorithm, files, lost, stopping):
    """The hashes of some files, or what went wrong. HASH-3: without samples, every file is read whole."""

    def go_on():
        if lost.is_set():
            raise LeaseLost
        if stopping.is_set():
            raise Stopped

    found = []
    for file in files:
        go_on()
        try:
            found.append((file, digest(root, algorithm, go_on, *file[1:]), None))
        except FileProblem as problem:
            found.append((file, None, problem.args))
    return found


def identity(root):
    """HASH-10: which folder it is, another one when its disk was taken away; raises OSError when none can be opened."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        found = os.fstat(folder)
    finally:
        os.close(folder)
    return found.st_dev, found.st_ino


def hash_files(database, job, library, owner, progress, lost, stopping):
    """HASH-9: settle every file that is due, or as many as a minute allows.

    HASH-3: what was read may have made files due that were passed already, so there is a second round.
    """
    root, algorithm = database.run("SELECT root_path, algorithm FROM library_roots WHERE id = ?", library).fetchone()
    began_in, until, last, rounds = identity(root), time.monotonic() + TURN, 0, 2
    while time.monotonic() < until and rounds:
        files = due(database, library, last)
        if not files:
            last, rounds = 0, rounds - 1
            continue
        last = files[-1][0]
        found = read_some(root, algorithm, files, lost, stopping)
        if any(problem for _, _, problem in found) and identity(root) != began_in:
            # HASH-10: the disk is gone, and not the files.
            raise OSError(f"the folder {root} is not the one it was when this began")
        with transaction(database):
            progress[0] += len(files)
            progress[1] = max(progress)
            renew(database, job, owner, progress)
            for file, content, problem in found:
                if problem is None:
                    store(database, file, algorithm, content)
                else:
                    store_problem(database, file, *problem)


def keep_alive(url, name, job, owner, progress, ended, lost):
    """LEASE-3, REG-2: renew the lease and the registration while the work computes."""
    database = connect(url)
    while not ended.wait(HEARTBEAT):
        try:
            register(database, name)
            with transaction(database):
                renew(database, job, owner, progress)
        except LeaseLost:
            lost.set()
            return


def work(url, database, name, stopping):
    """Do one job; false when there is none."""
    register(database, name)
    owner = f"{name}#{secrets.token_hex(8)}"
    claimed = claim(database, owner)
    if claimed is None:
        return False
    job, library = claimed
    progress, ended, lost = [0, 0], threading.Event(), threading.Event()
    heart = threading.Thread(target=keep_alive, args=(url, name, job, owner, progress, ended, lost), daemon=True)
    heart.start()
    try:
        hash_files(database, job, library, owner, progress, lost, stopping)
        finish(database, job, owner, progress, "completed")
        print(f"hashed {progress[0]} files", flush=True)
    except LeaseLost:
        print(f"job {job} is not ours any more", flush=True)
    except Stopped:
        finish(database, job, owner, progress, "retryable")
    except OSError as problem:
        finish(database, job, owner, progress, "failed", "ROOT_UNAVAILABLE", str(problem))
    finally:
        ended.set()
        heart.join()
    return True


def main(*options):
    """PLANE-8: until there is nothing to do, or SIGTERM."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    url = next((option for option in options if "://" in option), None) or os.environ["KURABITO_DATABASE"]
    database = connect(url)
    check_version(database)
    name = f"{re.sub('[^A-Za-z0-9.-]', '-', socket.gethostname())}-{os.getpid()}-{secrets.token_hex(4)}"
    while not stopping.is_set():
        if not work(url, database, name, stopping):
            if "--once" in options:
                break
            stopping.wait(0.5)
    with transaction(database):
        database.run("DELETE FROM data_planes WHERE name = ?", name)


if __name__ == "__main__":
    main(*sys.argv[1:])
