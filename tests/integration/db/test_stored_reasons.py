"""Sentences that earlier versions stored become codes with facts, and say the same to those who read them."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from kurabito.api.reasons import in_english
from kurabito.catalog.states import FilterReason
from kurabito.db import Connection, Database, migrate
from kurabito.db.migrate import PRODUCT, RUNTIME, available
from kurabito.downloads.reasons import DownloadReason
from kurabito.maintenance.wal import CheckpointReason
from kurabito.reasons import read_reason

Told = dict[str, tuple[str, dict[str, Any]]]

CODES_CAME_WITH = 160
ROOM = "not enough room: it needs 1.5 GiB, and 0.5 GiB are left beside what is under way and the reserve"

FILTERED: Told = {
    "excluded by no small ones": ("excluded", {"rule": "no small ones"}),
    'excluded by "quotes" \\ and 日本': ("excluded", {"rule": '"quotes" \\ and 日本'}),
    "not included by only Ku": ("not_included", {"rule": "only Ku"}),
    "too <small>": ("other", {"text": "too <small>"}),
}
DOWNLOADS: Told = {
    "no downloader takes a URL of this kind": ("no_type", {}),
    "no downloader for torrent is registered and switched on": ("no_downloader", {"type": "torrent"}),
    "A: no room; B: no room": ("other", {"text": "A: no room; B: no room"}),
    "it stood still, and no other downloader takes it": ("gave_up", {"said": []}),
    "it stood still, and no other downloader takes it; B: not here": (
        "other",
        {"text": "it stood still, and no other downloader takes it; B: not here"},
    ),
    "A took it and did not say its hash": ("no_hash", {"downloader": "A"}),
    "removed at the downloader": ("removed", {}),
    "the downloader reports an error": ("reported", {}),
    "it stood still": ("stood_still", {}),
    "its downloader was away": ("downloader_away", {}),
    "A was removed; it goes on when that registers again, or send it elsewhere": (
        "downloader_removed",
        {"downloader": "A"},
    ),
    "its downloader was removed; it goes on when that registers again, or send it elsewhere": (
        "downloader_removed",
        {"downloader": None},
    ),
    "A is switched off; it goes on when you switch that on, or send it elsewhere": (
        "switched_off",
        {"downloader": "A"},
    ),
    "the downloader has one torrent for this and for Show - 01, which is another episode": (
        "another_episode",
        {"title": "Show - 01"},
    ),
    "a better release took its place": ("replaced", {}),
    "a filter excludes it": ("filtered", {}),
    "cancelled by its keeper": ("cancelled", {}),
    "sent elsewhere by its keeper": ("sent_elsewhere", {}),
    "disk full": ("other", {"text": "disk full"}),
}
CHECKPOINTS: Told = {
    "asked for": ("asked", {}),
    "the log grew to 1,234,567 bytes": ("log_grew", {"size_bytes": 1_234_567}),
    "the disk is small": ("other", {"text": "the disk is small"}),
}
ATTEMPTS: Told = {
    "no reason given": ("unexplained", {}),
    "it said nothing about this one": ("unmentioned", {}),
    ROOM: ("no_room", {"needed_bytes": 1_610_612_736, "left_bytes": 536_870_912}),
    "unsupported": ("other", {"text": "unsupported"}),
}


def fill(conn: Connection) -> None:
    conn.run("INSERT INTO series (id, title, state, created_at, updated_at) VALUES (1, 's', 'followed', 1, 1)")
    links = max(len(FILTERED), len(DOWNLOADS))
    for number, reason in enumerate([*FILTERED, *[None] * (links - len(FILTERED))], start=1):
        conn.run(
            "INSERT INTO anime_links (id, series_id, title, url, release_key, languages, is_filtered, filter_reason, "
            "created_at) VALUES (:id, 1, 't', :url, :key, '[]', :filtered, :reason, 1)",
            {"id": number, "url": f"u{number}", "key": f"k{number}", "filtered": int(bool(reason)), "reason": reason},
        )
    for number, sentence in enumerate(DOWNLOADS, start=1):
        conn.run(
            "INSERT INTO downloads (id, link_id, status, reason, queued_at, created_at, updated_at) "
            "VALUES (:id, :id, 'failed', :reason, 1, 1, 1)",
            {"id": number, "reason": sentence},
        )
    for number, sentence in enumerate(ATTEMPTS, start=1):
        conn.run(
            "INSERT INTO dispatch_attempts (id, download_id, module_name, outcome, reason, sent_at) "
            "VALUES (:id, :id, 'A', 'rejected', :reason, 1)",
            {"id": number, "reason": sentence},
        )
    for reason in CHECKPOINTS:
        conn.run(
            "INSERT INTO wal_maintenance_jobs (requested_mode, reason, status, execute_after, created_at, updated_at) "
            "VALUES ('passive', :reason, 'completed', 1, 1, 1)",
            {"reason": reason},
        )


def test_stored_sentences_become_codes_with_facts(database: Database) -> None:
    migrate(database, RUNTIME)
    migrate(database, PRODUCT, [step for step in available(database.dialect, PRODUCT) if step.number < CODES_CAME_WITH])
    database.write_blocking(fill)
    assert "0160_reasons_as_codes" in migrate(database, PRODUCT)

    def look(conn: Connection) -> list[tuple[type[StrEnum], list[str], Told]]:
        filtered = conn.all("SELECT filter_reason FROM anime_links WHERE filter_reason IS NOT NULL ORDER BY id")
        downloads = conn.all("SELECT reason FROM downloads ORDER BY id")
        attempts = conn.all("SELECT reason FROM dispatch_attempts ORDER BY id")
        checkpoints = conn.all("SELECT reason FROM wal_maintenance_jobs ORDER BY id")
        return [
            (FilterReason, [text for (text,) in filtered], FILTERED),
            (DownloadReason, [text for (text,) in downloads], DOWNLOADS),
            (DownloadReason, [text for (text,) in attempts], ATTEMPTS),
            (CheckpointReason, [text for (text,) in checkpoints], CHECKPOINTS),
        ]

    for codes, stored, expected in database.read_blocking(look):
        read = [one for text in stored if (one := read_reason(codes, text)) is not None]
        assert [(one.code, one.facts) for one in read] == list(expected.values())
        assert [in_english(one) for one in read] == list(expected)
        # The form that a query looks for is the form that is written.
        assert [json.loads(text) for text in stored] == [one.as_facts() for one in read]
        assert all(text.startswith(f'{{"code": "{one.code}"') for text, one in zip(stored, read, strict=True))
