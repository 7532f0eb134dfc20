"""The progress of a download, its actions, and the health of a downloader, each decided in one place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kurabito.downloads.health.downloaders import DownloaderHealth, downloader_health
from kurabito.downloads.health.progress import (
    DownloadAction,
    DownloadProgressState,
    actions_for,
    progress_state,
    time_left,
)
from kurabito.downloads.items import Owner
from kurabito.downloads.states import Status
from kurabito.downloads.store import Download
from kurabito.modules.services import Registration, Service, ServiceType

NOW = datetime(2026, 11, 15, tzinfo=UTC)
INTERVAL = timedelta(seconds=10)


def download(**values: Any) -> Download:
    known: dict[str, Any] = {
        "id": 1,
        "link_id": 1,
        "module_id": 1,
        "downloader": "A",
        "status": Status.DOWNLOADING,
        "hash": "0" * 40,
        "save_path": "/downloads",
        "progress": 0.5,
        "size_bytes": 2000,
        "downloaded_bytes": 1000,
        "rate": 100,
        "peers": 1,
        "detail": None,
        "reason": None,
        "progressed_at": NOW,
        "completed_at": None,
        "created_at": NOW,
        "updated_at": NOW,
        "title": "Dawn",
        "series_id": 1,
        "episode_id": 1,
    }
    return Download(**(known | values))


@pytest.mark.parametrize(
    ("values", "is_stalled", "state", "actions"),
    [
        (
            {},
            False,
            DownloadProgressState.DOWNLOADING,
            [DownloadAction.PAUSE, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {},
            True,
            DownloadProgressState.STALLED,
            [DownloadAction.PAUSE, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {"detail": "paused"},
            False,
            DownloadProgressState.PAUSED,
            [DownloadAction.RESUME, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {"detail": "queued: 5 others go first"},
            False,
            DownloadProgressState.QUEUED,
            [DownloadAction.PAUSE, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {"detail": "no_room: 2 GiB missing"},
            True,
            DownloadProgressState.NO_ROOM,
            [DownloadAction.PAUSE, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {"detail": "forcedDL"},
            False,
            DownloadProgressState.DOWNLOADING,
            [DownloadAction.PAUSE, DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        (
            {"owner": Owner.USER},
            False,
            DownloadProgressState.DOWNLOADING,
            [DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        ({"status": Status.PENDING}, False, DownloadProgressState.PENDING, [DownloadAction.CANCEL]),
        (
            {"status": Status.NO_DOWNLOADER},
            False,
            DownloadProgressState.NO_DOWNLOADER,
            [DownloadAction.RETRY, DownloadAction.CANCEL],
        ),
        (
            {"status": Status.DOWNLOADER_ERROR},
            False,
            DownloadProgressState.DOWNLOADER_ERROR,
            [DownloadAction.SEND_ELSEWHERE, DownloadAction.CANCEL],
        ),
        ({"status": Status.FAILED}, False, DownloadProgressState.FAILED, [DownloadAction.RETRY]),
        ({"status": Status.CANCELLED}, False, DownloadProgressState.CANCELLED, [DownloadAction.RETRY]),
        (
            {"status": Status.COMPLETED, "detail": "seeding"},
            False,
            DownloadProgressState.COMPLETED,
            [DownloadAction.WANT_AGAIN, DownloadAction.WANT_OTHER],
        ),
        ({"status": Status.COMPLETED, "episode_id": None}, False, DownloadProgressState.COMPLETED, []),
    ],
)
def test_a_download_has_one_state_of_progress_and_the_actions_that_it_takes(
    values: dict[str, Any], is_stalled: bool, state: DownloadProgressState, actions: list[DownloadAction]
) -> None:
    assert progress_state(download(**values), is_stalled) is state
    assert actions_for(download(**values)) == actions


def test_the_time_left_is_known_when_rate_and_size_are() -> None:
    assert time_left(download()) == timedelta(seconds=10)
    assert time_left(download(rate=0)) is None
    assert time_left(download(size_bytes=None)) is None
    assert time_left(download(status=Status.COMPLETED)) is None
    assert time_left(download(rate=1, size_bytes=1 << 60)) == timedelta(days=99)


def downloader(*, is_enabled: bool, silent: timedelta) -> Service:
    registration = Registration(
        service_type=ServiceType.DOWNLOADER,
        service_name="A",
        host="127.0.0.1",
        port=1,
        instance_id="first",
        token="token of A",
    )
    return Service(1, registration, 50, is_enabled, NOW, NOW - silent)


@pytest.mark.parametrize(
    ("is_enabled", "waiting", "silent", "health"),
    [
        (True, 0, timedelta(0), DownloaderHealth.HEALTHY),
        # Three polls and the time that a slow answer may take.
        (True, 0, timedelta(seconds=60), DownloaderHealth.HEALTHY),
        (True, 0, timedelta(seconds=61), DownloaderHealth.UNREACHABLE),
        (True, 1, timedelta(0), DownloaderHealth.UNREACHABLE),
        (False, 0, timedelta(0), DownloaderHealth.DISABLED),
        (False, 1, timedelta(days=1), DownloaderHealth.DISABLED),
    ],
)
def test_a_downloader_is_unreachable_when_it_is_silent_or_waited_for(
    is_enabled: bool, waiting: int, silent: timedelta, health: DownloaderHealth
) -> None:
    service = downloader(is_enabled=is_enabled, silent=silent)
    assert downloader_health(service, waiting, now=NOW, interval=INTERVAL) is health
