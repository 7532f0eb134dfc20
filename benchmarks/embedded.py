"""The embedded downloader against bare libtorrent: the same torrent, from the same seeder, over loopback."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import libtorrent as lt

from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from kurabito.downloads.clients.embedded import EmbeddedClient, EmbeddedOptions
from kurabito.downloads.items import DownloadItem, TransferStatus
from kurabito.http import Outbound
from processes import BenchmarkBroken

_QUIET = {"enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False}
_LOOKED_EVERY = 0.005
_LONGEST = 120.0


def run(options: Options) -> Outcome:
    """Measure both sides."""
    size = options.size(200, quick=8) << 20
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        seeder = Seeder(Path(scratch), size)
        sides = [Side("kurabito", "embedded, its defaults", lambda: asyncio.run(ours(seeder)), ours=True)]
        if not options.ours_only:
            sides.append(Side("libtorrent", "the same without us, uTP off", lambda: bare(seeder)))
        measured = interleave(sides, options)
    workload = f"download {size >> 20} MiB from a seeder on loopback"
    return Outcome([compare(workload, measured, "MB/s", " MB/s", Target(0.8), options)], settings_of(measured))


class Seeder:
    """Has the file, and is known to every magnet link of it."""

    def __init__(self, folder: Path, size: int) -> None:
        (folder / "file.bin").write_bytes(os.urandom(size))
        made = lt.create_torrent(lt.list_files(str(folder / "file.bin")), 1 << 20, lt.create_torrent.v1_only)
        lt.set_piece_hashes(made, str(folder))
        self.size = size
        self.torrent = lt.bencode(made.generate())
        self.session = lt.session(
            {**_QUIET, "listen_interfaces": "127.0.0.1:0", "allow_multiple_connections_per_ip": True}
        )
        params = lt.load_torrent_buffer(self.torrent)
        params.save_path = str(folder)
        self.session.add_torrent(params)
        # A magnet link names peers too, so no tracker is needed.
        self.magnet = f"{lt.make_magnet_uri(params)}&x.pe=127.0.0.1:{self.session.listen_port()}"


async def ours(seeder: Seeder) -> Mapping[str, float]:
    """Through the client, as the core would ask."""
    options = EmbeddedOptions(port=_free_port(), interface="127.0.0.1", finds_peers=False)
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        async with Outbound() as outbound, EmbeddedClient(Path(scratch) / "notes", outbound, options) as client:
            began = time.perf_counter()
            (result,) = await client.add_torrents([DownloadItem(seeder.magnet, f"{scratch}/files")])
            assert result.hash is not None
            while (await client.query_status([result.hash]))[0].status is not TransferStatus.COMPLETED:
                await asyncio.sleep(_LOOKED_EVERY)
                _give_up_after(began)
            return _measured(seeder, began)


def bare(seeder: Seeder) -> Mapping[str, float]:
    """libtorrent alone, started within the measured time as ours is."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        began = time.perf_counter()
        session = lt.session({**_QUIET, "listen_interfaces": "127.0.0.1:0", "enable_outgoing_utp": False})
        params = lt.parse_magnet_uri(seeder.magnet)
        params.save_path = scratch
        handle = session.add_torrent(params)
        while not handle.status().is_seeding:
            time.sleep(_LOOKED_EVERY)
            _give_up_after(began)
        return _measured(seeder, began)


def _measured(seeder: Seeder, began: float) -> Mapping[str, float]:
    return {"MB/s": seeder.size / 1e6 / (time.perf_counter() - began)}


def _give_up_after(began: float) -> None:
    if time.perf_counter() - began > _LONGEST:
        raise BenchmarkBroken("the download did not come to its end")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


if __name__ == "__main__":
    run_alone("embedded", run)
