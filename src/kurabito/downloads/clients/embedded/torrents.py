"""Torrents in this process, by libtorrent. What is under way is kept in a folder and goes on at the next start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final

import libtorrent as lt

from kurabito.downloads.clients.embedded.goals import SeedGoal, SeedGoals
from kurabito.downloads.clients.embedded.kept import keep
from kurabito.downloads.clients.embedded.options import RESUME_SUFFIX, EmbeddedOptions
from kurabito.downloads.clients.embedded.room import has_room
from kurabito.downloads.clients.embedded.torrent_status import is_refused, status_of
from kurabito.downloads.clients.sources import SourceRefused, TorrentSource
from kurabito.downloads.items import DownloadStatus
from kurabito.logs import get_logger

log = get_logger(__name__)

_SAVED_EVERY: Final = 30.0
_GOODBYE: Final = 3.0
_DISK_TRIED_EVERY: Final = 5.0
_TELLS: Final = lt.alert_category.status | lt.alert_category.error | lt.alert_category.storage


class Torrents:
    """One libtorrent session. Its methods wait for libtorrent, so they are called from threads."""

    def __init__(self, folder: Path, options: EmbeddedOptions) -> None:
        self._folder = folder
        self._options = options
        self._session: lt.session | None = None
        self._handles: dict[str, lt.torrent_handle] = {}
        self._goals = SeedGoals(folder)
        self._lock = threading.Lock()
        self._saved = 0.0
        self._troubles: dict[str, str] = {}
        """Why the disk does not take some torrents."""
        self._written: set[str] = set()
        """Torrents whose last block is on the disk: libtorrent finishes one while its last blocks wait to be written."""
        self._tried_disk = 0.0

    def open(self) -> None:
        """Start, and go on with what was under way."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._session = lt.session(session_settings(self._options))
        for file in sorted(self._folder.glob(f"*{RESUME_SUFFIX}")):
            try:
                params = lt.read_resume_data(file.read_bytes())
                self._handles[file.stem] = self._session.add_torrent(params)
                self._goals.load(file.stem)
                if _has_all(params):
                    # Nothing of an earlier run waits to be written.
                    self._written.add(file.stem)
            except (RuntimeError, OSError) as error:
                log.warning("torrent halted", hash=file.stem, error=error)

    def adjust(self, options: EmbeddedOptions) -> None:
        """Behave in another way from now on."""
        self._options = options
        if self._session is not None:
            self._session.apply_settings(session_settings(options))

    def close(self) -> None:
        """Keep how far everything is, and stop."""
        if self._session is None:
            return
        self._session.pause()
        left = self._ask_to_save(lt.torrent_handle.only_if_modified)
        until = time.monotonic() + _GOODBYE
        while left > 0 and time.monotonic() < until:
            self._session.wait_for_alert(100)
            left -= self.tend()
        self._handles.clear()
        self._session = None

    def add(self, source: TorrentSource) -> None:
        """Take a torrent; one that it has already stays as it is."""
        assert self._session is not None, "it is opened first"
        try:
            if source.torrent is not None:
                params = lt.load_torrent_buffer(source.torrent.content)
            else:
                params = lt.parse_magnet_uri(source.item.url)
        except RuntimeError as error:
            raise SourceRefused(f"libtorrent does not take it: {error}") from None
        params.save_path = source.item.save_path
        with self._lock:
            there = self._handles.get(source.hash)
            if there is not None:
                if is_refused(status := there.status()) or status.errc.value():
                    # Asked for again after an error: another try with what is on the disk.
                    self._go_on(there)
                return
            # Kept first: a torrent that is taken is never forgotten.
            self._goals.put(source.hash, SeedGoal.of(source.item, self._options))
            keep(self._kept(source.hash), lt.write_resume_data_buf(params))
            try:
                self._handles[source.hash] = self._session.add_torrent(params)
            except RuntimeError as error:
                self._kept(source.hash).unlink(missing_ok=True)
                self._goals.drop(source.hash)
                raise SourceRefused(f"libtorrent does not take it: {error}") from None

    def status(self, hash: str) -> DownloadStatus | None:
        """How a torrent is doing; None when it is not ours."""
        handle = self._handles.get(hash)
        if handle is None:
            return None
        return status_of(hash, handle, trouble=self._troubles.get(hash), is_written=hash in self._written)

    def pause(self, hash: str) -> bool:
        """Let a torrent rest; false when it is not ours."""
        return self._change(hash, _rest)

    def resume(self, hash: str) -> bool:
        """Let a torrent go on; false when it is not ours."""
        return self._change(hash, _go_on)

    def remove(self, hash: str, *, delete_files: bool) -> bool:
        """Forget a torrent; false when it is not ours."""
        with self._lock:
            handle = self._handles.pop(hash, None)
            self._troubles.pop(hash, None)
            self._written.discard(hash)
            self._goals.drop(hash)
            self._kept(hash).unlink(missing_ok=True)
            if handle is None or self._session is None:
                return False
            self._session.remove_torrent(handle, lt.session.delete_files if delete_files else 0)
            return True

    def tend(self) -> int:
        """Keep what libtorrent tells to keep, and end what was seeded enough; how many requests to save were answered."""
        if self._session is None:
            return 0
        answers = sum(self._hear(alert) for alert in self._session.pop_alerts())
        if time.monotonic() - self._saved > _SAVED_EVERY:
            self._saved = time.monotonic()
            self._ask_to_save(lt.torrent_handle.only_if_modified)
        self._end_seeding()
        if time.monotonic() - self._tried_disk > _DISK_TRIED_EVERY:
            self._tried_disk = time.monotonic()
            self._use_room()
        return answers

    def _change(self, hash: str, change: Callable[[lt.torrent_handle], None]) -> bool:
        """Change a torrent and keep the change; false when it is not ours."""
        handle = self._handles.get(hash)
        if handle is None:
            return False
        change(handle)
        handle.save_resume_data(lt.torrent_handle.save_info_dict)
        return True

    def _hear(self, alert: lt.alert) -> int:
        """Do what an alert calls for; 1 when it answers a request to save."""
        match alert:
            case lt.save_resume_data_alert():
                self._keep(alert)
                return 1
            case lt.save_resume_data_failed_alert():
                return 1
            case lt.listen_failed_alert():
                log.warning("peers cannot connect to us", port=self._options.port, problem=alert.message())
            case lt.listen_succeeded_alert(port=port) if port != self._options.port:
                log.warning("the port for peers is in use by another program", port=self._options.port, instead=port)
            case lt.torrent_alert() if alert.handle.is_valid():
                self._hear_of(alert.handle, alert)
            case _:
                pass
        return 0

    def _hear_of(self, handle: lt.torrent_handle, alert: lt.torrent_alert) -> None:
        """Note what an alert says about a torrent."""
        name = self._name(handle.info_hashes())
        match alert:
            case lt.file_error_alert() if name is not None:
                self._troubles[name] = alert.error.message()
                log.warning("torrent cannot be written", hash=name, problem=alert.error.message())
            case lt.cache_flushed_alert() if name is not None:
                if handle.status().is_finished:
                    self._written.add(name)
            case lt.metadata_received_alert():
                handle.save_resume_data(lt.torrent_handle.save_info_dict)
            case lt.torrent_finished_alert():
                handle.save_resume_data(lt.torrent_handle.save_info_dict)
                handle.flush_cache()
            case _:
                pass

    def _ask_to_save(self, when: int) -> int:
        with self._lock:
            handles = [handle for handle in self._handles.values() if handle.need_save_resume_data()]
            for handle in handles:
                handle.save_resume_data(lt.torrent_handle.save_info_dict | when)
            return len(handles)

    def _keep(self, alert: lt.save_resume_data_alert) -> None:
        with self._lock:
            # One that was removed meanwhile must not come back at the next start.
            hash = self._name(alert.params.info_hashes)
            if hash is None:
                return
            try:
                keep(self._kept(hash), lt.write_resume_data_buf(alert.params))
            except OSError as error:
                # What was kept before is still good, and only older.
                log.warning("torrent progress not saved", hash=hash, problem=error.strerror)

    def _name(self, hashes: lt.info_hash_t) -> str | None:
        """What we call a torrent. One that we know by one of its hashes gets the other with its metadata."""
        return next((name for name in (str(hashes.v1), str(hashes.get_best())) if name in self._handles), None)

    def _end_seeding(self) -> None:
        # Others are added and removed by other threads meanwhile.
        with self._lock:
            for hash, handle in self._handles.items():
                status = handle.status()
                if status.is_finished and not status.paused and self._gave_enough(hash, status):
                    _rest(handle)

    def _use_room(self) -> None:
        """Go on with what the disk did not take. libtorrent itself only gives then, and tries again after minutes."""
        with self._lock:
            for hash, handle in self._handles.items():
                status = handle.status()
                missing = status.total_wanted - status.total_wanted_done
                # What its keeper paused stays so.
                is_managed = bool(status.flags & lt.torrent_flags.auto_managed)
                if is_refused(status) and is_managed and has_room(Path(status.save_path), missing):
                    log.info("torrent resumed", hash=hash)
                    self._go_on(handle)

    def _go_on(self, handle: lt.torrent_handle) -> None:
        handle.unset_flags(lt.torrent_flags.upload_mode)
        handle.clear_error()
        handle.resume()

    def _gave_enough(self, hash: str, status: lt.torrent_status) -> bool:
        given = status.all_time_upload / max(1, status.total_wanted)
        goal = self._goals.of(hash) or SeedGoal(self._options.ratio, self._options.seed_seconds)
        return given >= goal.ratio or status.seeding_duration.total_seconds() >= goal.seconds

    def _kept(self, hash: str) -> Path:
        return self._folder / f"{hash}{RESUME_SUFFIX}"


def session_settings(options: EmbeddedOptions) -> lt.settings_pack:
    """How libtorrent behaves in the network; PEX is on by default."""
    interfaces = [options.interface] if options.interface else ["0.0.0.0", "[::]"]  # noqa: S104 - peers are anywhere
    return {
        "user_agent": f"Kurabito/{version('kurabito')} libtorrent/{lt.version}",
        "listen_interfaces": ",".join(f"{interface}:{options.port}" for interface in interfaces),
        # A port that is in use is logged, and another one used: without any there would be no download either.
        "max_retry_port_bind": 0,
        "outgoing_interfaces": options.interface,
        "enable_dht": options.finds_peers,
        # These speak to the router and to the neighbours, which no keeper asked for.
        "enable_upnp": False,
        "enable_natpmp": False,
        "enable_lsd": False,
        # Ten times slower than TCP on a fast line. A peer that connects with it is accepted all the same.
        "enable_outgoing_utp": False,
        "active_downloads": options.torrents_at_once,
        "active_seeds": 20,
        "active_limit": 200,
        "download_rate_limit": options.download_rate,
        "upload_rate_limit": options.upload_rate,
        "stop_tracker_timeout": 1,
        "alert_mask": _TELLS,
    }


def _has_all(params: lt.add_torrent_params) -> bool:
    # The pieces are kept in whole bytes, so that there may be more places than pieces.
    pieces = params.ti.num_pieces() if params.ti is not None else 0
    return pieces > 0 and params.have_pieces[:pieces] == [True] * pieces


def _rest(handle: lt.torrent_handle) -> None:
    # What is managed would be started again as soon as there is room.
    handle.unset_flags(lt.torrent_flags.auto_managed)
    handle.pause()


def _go_on(handle: lt.torrent_handle) -> None:
    handle.set_flags(lt.torrent_flags.auto_managed)
    handle.resume()
