"""Seasons that lie in a folder beside the one that it was matched to: their files say so, and the index knows them."""

from __future__ import annotations

from collections.abc import Sequence

from kurabito.catalog.series import Series
from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.franchises import franchise_of
from kurabito.placements.adoption.units import LibraryVideo
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import read_video
from kurabito.placements.plans.runs import read_together
from kurabito.placements.plans.siblings import read_beside


def other_seasons(conn: Connection, folder: str, videos: Sequence[LibraryVideo], shows: Sequence[Series]) -> list[int]:
    """The entries (ids of bgm.tv) of the seasons that files of a show's folder say, and that none of its series is."""
    own = {one.season for one in shows}
    said = _seasons(folder, videos)
    # Where all names say one season, it is the series' own, whatever number the series has.
    missing = said - own if len(said) > 1 else set()
    if not missing or not said & own or shows[0].metadata_id is None:
        return []
    franchise = franchise_of(conn, records.find(conn, shows[0].metadata_id).details)
    entries = () if franchise is None else franchise.regular
    found = {
        season: entry.ids.bgm_id
        for entry in reversed(entries)
        if (season := entry.season) in missing and entry.part == 1
    }
    return [bgm_id for _, bgm_id in sorted(found.items()) if bgm_id is not None]


def _seasons(folder: str, videos: Sequence[LibraryVideo]) -> set[int]:
    alone = [read_video(SplitPath.of(video.path.removeprefix(f"{folder}/"))) for video in videos]
    readings = read_beside(read_together(alone), is_known=True)
    return {one.season for one in readings if one.kind is WorkKind.EPISODE and one.season}
