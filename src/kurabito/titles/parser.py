"""Reads a release title: the recognisers in their order, each taking its part out of what the next one reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kurabito.titles import episodes, groups, kinds, names, seasons, tags, years
from kurabito.titles.draft import TAKEN, Draft
from kurabito.titles.model import Kind, ReleaseTitle
from kurabito.titles.text import normalise

def parse_title(text: str, *, explain: bool = False) -> ReleaseTitle:
    """Understand a release title.

    >>> found = parse_title("[Kura] Yoru no Kurabito - 07v2 [1080p][WEB-DL]")
    >>> found.title, found.episodes, found.version, found.resolution
    ('Yoru no Kurabito', (7,), 2, 1080)
    """
    draft = Draft(normalise(text), explain=explain)
    tags.read_file_ending(draft)
    tags.read_checksum(draft)
    tags.read_notes(draft)
    tags.read_tags(draft)
    groups.read_leading_group(draft)
    years.read_date(draft)
    kinds.read_kind(draft)
    episodes.read_episodes(draft)
    seasons.read_season(draft)
    years.read_year(draft)
    tags.read_doubtful(draft, _name_end(draft.text))
    groups.read_trailing_group(draft)
    return _result(draft, names.read_names(draft))


def _name_end(text: str) -> int:
    """Where the first taken part behind some text begins."""
    start = len(text) - len(text.lstrip(" \x00-."))
    end = text.find(TAKEN, start)
    return end if end >= 0 else len(text)


def _result(draft: Draft, found: tuple[str, ...]) -> ReleaseTitle:
    said = draft.values
    batch = draft.is_batch or len(draft.episodes) > 1 or (not draft.episodes and bool(draft.seasons or said.get("batch")))
    heights = [int(value) for value in said.get("resolution", ())]
    return ReleaseTitle(
        title=names.best_of(found),
        titles=found,
        season=draft.seasons[0] if draft.seasons else None,
        seasons=draft.seasons,
        episodes=draft.episodes,
        version=draft.version,
        group=draft.group,
        groups=groups.split_group(draft.group) if draft.group else (),
        resolution=heights[0] if heights else None,
        source=next(iter(said.get("source", ())), None),
        platform=next(iter(said.get("platform", ())), None),
        video=tuple(said.get("video", ())),
        audio=tuple(said.get("audio", ())),
        languages=tuple(said.get("languages", ())),
        container=next(iter(said.get("container", ())), None),
        checksum=draft.checksum,
        year=draft.year,
        date=draft.date,
        kind=draft.kind or (Kind.TV if draft.episodes or draft.seasons else Kind.UNKNOWN),
        is_batch=batch,
        findings=tuple(draft.findings),
    )
