"""Trying settings out: the TMDB key, the proxy, addresses, the folder for downloads."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.app.compose.downloads import DOWNLOADS
from kurabito.contact import place_of
from kurabito.db import Database
from kurabito.downloads.paths.probes import leave, new_probe, take_away
from kurabito.errors import KurabitoError
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus
from kurabito.library import libraries
from kurabito.logs import mask_text
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.reasons import InputReason, Reason, refused
from kurabito.settings import Settings
from kurabito.settings.origins import shown_value
from kurabito.settings.problems import SettingReason
from kurabito.settings.values import proxy_url, web_url
from kurabito.settings.verdicts import SettingVerdict, Trials, VerdictReason

# Enough to see that the service answers; the index itself may be some megabytes.
_ONCE: Final = Limits(seconds=15.0, attempts=1, max_bytes=64 << 20)
_REFUSED: Final = (401, 403)
_WEB_URL: Final = Reason(SettingReason.WEB_URL)


class SettingTrials:
    """Tries what was typed over the settings as they are now."""

    def __init__(self, database: Database, outbound: Outbound, current: Callable[[], Settings]) -> None:
        self._database = database
        self._outbound = outbound
        self._current = current

    def all(self) -> Trials:
        """By the setting."""
        return {
            "tmdb_key": self.tmdb_key,
            "tmdb_url": self.tmdb_url,
            "bgm_url": lambda typed: self._address(typed or self._current().bgm_url, "/calendar"),
            "offline_ids_url": lambda typed: self._address(typed or self._current().offline_ids_url),
            "proxy": self.proxy,
            "download_root": self.download_root,
        }

    async def tmdb_key(self, typed: str) -> SettingVerdict:
        """Ask TMDB for something small with this key."""
        stored = self._current().tmdb_key
        key = typed or (stored.get_secret_value() if stored else "")
        return await self._tmdb(key, self._current().tmdb_url) if key else _nothing()

    async def tmdb_url(self, typed: str) -> SettingVerdict:
        """Ask this address, with the key that is set if it was given for that host."""
        now = self._current()
        stored, url = now.tmdb_key, typed or now.tmdb_url
        if (refusal := _no_address(url, web_url, _WEB_URL)) is not None:
            return refusal
        is_its_own = stored is not None and place_of(url) == place_of(now.tmdb_url)
        return await self._tmdb(stored.get_secret_value(), url) if stored and is_its_own else await self._address(url)

    async def proxy(self, typed: str) -> SettingVerdict:
        """Fetch from outside through it."""
        now = self._current()
        # Its password is masked where it is shown, and so comes back.
        is_stored = not typed or typed == shown_value(now, "proxy")
        proxy = now.proxy if is_stored else typed
        if not proxy:
            return _nothing()
        if (refusal := _no_address(proxy, proxy_url, refused(InputReason.PROXY_URL))) is not None:
            return refusal
        return await self._address(now.bgm_url, "/calendar", self._outbound.through(proxy))

    async def download_root(self, typed: str) -> SettingVerdict:
        """Write a file there, look how much is free, and whether the libraries are on the same file system."""
        settings = self._current()
        root = Path(typed) if typed else settings.download_root or settings.state / DOWNLOADS
        kept = await self._database.read(libraries.everything)
        places = [(one.settings.name, one.path) for one in kept]
        return await asyncio.to_thread(look_at_folder, root, places)

    async def _tmdb(self, key: str, url: str) -> SettingVerdict:
        client = TmdbClient(self._outbound, key, url=url, image_url=self._current().tmdb_image_url, limits=_ONCE)
        try:
            await client.check()
        except TmdbError as problem:
            cause = problem.__cause__
            if isinstance(cause, BadStatus) and cause.answered in _REFUSED:
                return SettingVerdict(False, Reason(VerdictReason.KEY_REFUSED))
            return _failed(problem)
        except KurabitoError as problem:
            return _failed(problem)
        return _answered(url)

    async def _address(self, url: str, path: str = "", way: Outbound | None = None) -> SettingVerdict:
        if (refusal := _no_address(url, web_url, _WEB_URL)) is not None:
            return refusal
        host = urlsplit(url).hostname or ""
        try:
            await (way or self._outbound).get(url.rstrip("/") + path, trusted=[host], limits=_ONCE)
        except KurabitoError as problem:
            return _failed(problem)
        return _answered(url)


def _no_address(url: str, check: Callable[[str], str], reason: Reason[Any]) -> SettingVerdict | None:
    """What is wrong with an address, before anything is asked there."""
    try:
        check(url)
    except ValueError:
        return SettingVerdict(False, reason)
    return None


def look_at_folder(root: Path, places: list[tuple[str, Path]]) -> SettingVerdict:
    """Whether downloads can be written there, and linked into these libraries."""
    if not root.is_absolute() or "\0" in str(root):
        return SettingVerdict(False, Reason(SettingReason.FOLDER))
    made: list[Path] = []
    probe = new_probe()
    try:
        made = [folder for folder in (root, *root.parents) if not folder.exists()]
        root.mkdir(parents=True, exist_ok=True)
        if (problem := leave(root, probe)) is not None:
            return _unusable(problem)
        take_away(root, probe)
        free, device = shutil.disk_usage(root).free, root.stat().st_dev
    except OSError as error:
        return _unusable(error.strerror or str(error))
    finally:
        # A folder that was only tried is not left behind.
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
    elsewhere = [name for name, path in places if _device(path) not in (None, device)]
    if elsewhere:
        reason = Reason(VerdictReason.FOLDER_OTHER_DISK, {"libraries": elsewhere, "free_bytes": free})
        return SettingVerdict(False, reason)
    return SettingVerdict(True, Reason(VerdictReason.FOLDER_GOOD, {"free_bytes": free}))


def _device(path: Path) -> int | None:
    try:
        return path.stat().st_dev
    except OSError:
        return None


def _answered(url: str) -> SettingVerdict:
    return SettingVerdict(True, Reason(VerdictReason.ANSWERED, {"host": urlsplit(url).hostname or ""}))


def _failed(problem: KurabitoError) -> SettingVerdict:
    return SettingVerdict(False, Reason(VerdictReason.FAILED, {"text": mask_text(str(problem))}))


def _unusable(text: str) -> SettingVerdict:
    return SettingVerdict(False, Reason(VerdictReason.FOLDER_UNUSABLE, {"text": text}))


def _nothing() -> SettingVerdict:
    return SettingVerdict(False, Reason(VerdictReason.NOTHING))
