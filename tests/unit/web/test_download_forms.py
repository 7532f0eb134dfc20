"""Filter rules as a form has them, and how a download goes in one word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kurabito.downloads.filters.model import Action, Fields, FilterRule, RuleScope, Target
from kurabito.downloads.items import Owner
from kurabito.downloads.states import Status
from kurabito.downloads.store import Download
from kurabito.errors import InvalidInput
from kurabito.web.downloads.filter_form import FilterForm, key_of, scope_of
from kurabito.web.downloads.going import DownloadAction, DownloadProgressState, going_of, left_of, wishes_for

NOW = datetime(2026, 11, 15, tzinfo=UTC)
RULE = FilterRule(
    name="no small ones",
    action=Action.INCLUDE,
    scope=RuleScope(Target.SERIES, 7),
    rule_order=-3,
    pattern=r"1080p\b",
    fields=Fields(
        groups=("Kura", "Lantern"),
        resolutions=(1080, 2160),
        languages=("ja",),
        sources=("WEB-DL",),
        min_size=1_234_567,
        max_size=5 << 30,
        title="Dawn",
    ),
    is_enabled=False,
)


def test_a_rule_comes_back_from_its_form_as_it_was() -> None:
    assert FilterForm.of(RULE).rule() == RULE


def test_lists_are_read_however_they_are_separated() -> None:
    form = FilterForm(
        {"name": "x", "groups": " Kura ,Kura;Lantern、蔵字幕組\N{FULLWIDTH COMMA}", "resolutions": "1080P, 720"}
    )
    assert form.rule().fields == Fields(groups=("Kura", "Lantern", "蔵字幕組"), resolutions=(1080, 720))


@pytest.mark.parametrize("scope", [RuleScope(Target.GLOBAL), RuleScope(Target.FETCHER), RuleScope(Target.GROUP, 12)])
def test_a_scope_is_a_choice_of_the_form(scope: RuleScope) -> None:
    assert scope_of(key_of(scope)) == scope


@pytest.mark.parametrize("key", ["planet", "series:x", "series:-1", "series:99999999999999999999"])
def test_what_is_no_scope_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        scope_of(key)


@pytest.mark.parametrize("size", ["-1", "nan", "inf", "1e300", "much"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(InvalidInput, match="MiB"):
        FilterForm({"name": "x", "max_size": size}).rule()


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
    ("values", "is_stalled", "going", "wishes"),
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
def test_a_download_goes_in_one_way_and_can_be_wished_for_what_would_be_done(
    values: dict[str, Any], is_stalled: bool, going: DownloadProgressState, wishes: list[DownloadAction]
) -> None:
    assert going_of(download(**values), is_stalled) is going
    assert wishes_for(download(**values)) == wishes


def test_how_long_it_takes_is_said_when_somebody_can_tell() -> None:
    assert left_of(download()) == timedelta(seconds=10)
    assert left_of(download(rate=0)) is None
    assert left_of(download(size_bytes=None)) is None
    assert left_of(download(status=Status.COMPLETED)) is None
    assert left_of(download(rate=1, size_bytes=1 << 60)) == timedelta(days=99)
