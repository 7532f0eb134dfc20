"""bgm.tv and TMDB as the demo has them: on this machine, about made-up shows, with posters drawn by code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from kurabito.db import Database
from kurabito.demo.pictures import draw_poster
from kurabito.demo.shows import ALL_SHOWS, Show
from kurabito.demo.stand import Stand, StandAnswer
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry, read_index
from kurabito.metadata.sources.index import IndexOrigin, import_index

# By its name: the number of this machine stays forbidden, as the feed of the neighbour shows.
_HOST: Final = "localhost"
_ANIMATION: Final = 16
_EPISODES: Final = 12


class MetadataStand:
    """Answers as the two services do while the demo runs."""

    def __init__(self) -> None:
        self._stand = Stand(self._answer)
        self._url = f"http://{_HOST}:{self._stand.port}"
        self._today = datetime.now(UTC).date()
        self._by_id = {show.bgm_id: show for show in ALL_SHOWS}

    @property
    def settings(self) -> Mapping[str, Any]:
        """Has Kurabito ask here, and nowhere else."""
        return {
            "bgm_url": f"{self._url}/bgm",
            "bgm_image_host": _HOST,
            "tmdb_url": f"{self._url}/tmdb",
            "tmdb_image_url": f"{self._url}/pictures",
            "tmdb_key": "made-up",
            "offline_ids_url": f"{self._url}/data.json",
            "allow_private_hosts": _HOST,
        }

    async def open(self) -> None:
        await self._stand.open()

    async def close(self) -> None:
        await self._stand.close()

    def import_index(self, database: Database) -> None:
        """Know the ids of most of the shows without asking."""
        import_index(database, read_index(self._index().body), IndexOrigin.FILE)

    def _index(self) -> StandAnswer:
        """The file of an index, as bangumi-data has it."""
        entries = [show.entry(self._today) for show in ALL_SHOWS if show.is_indexed]
        return _as_answer({"siteMeta": {}, "items": [_indexed(entry) for entry in entries]})

    def _answer(self, target: str) -> StandAnswer | None:
        parts = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        match parts.path.strip("/").split("/"):
            case ["data.json"]:
                return self._index()
            case ["bgm", "calendar"]:
                return _as_answer([self._airing(weekday) for weekday in range(1, 8)])
            case ["bgm", "v0", "subjects", number] if (show := self._show(number)) is not None:
                return _as_answer(
                    self._subject(show, "date") | {"platform": "剧场版" if show.kind is RecordKind.MOVIE else "TV"}
                )
            case ["bgm", "v0", "episodes"] if (show := self._show(query.get("subject_id", ""))) is not None:
                listed = self._episodes(show)
                return _as_answer({"total": len(listed), "data": listed})
            case ["bgm", "v0", "search", "subjects"]:
                return _as_answer({"total": 0, "data": []})
            case ["tmdb", "discover", "tv"]:
                found = self._namesakes(int(query.get("first_air_date_year", "0")))
                return _as_answer({"page": 1, "results": found, "total_pages": 1, "total_results": len(found)})
            case ["tmdb", ("discover" | "search"), _]:
                return _as_answer({"page": 1, "results": [], "total_pages": 1, "total_results": 0})
            case ["pictures", name] if (show := self._show(name.removesuffix(".png"))) is not None:
                return StandAnswer("image/png", draw_poster(f"{show.bgm_id} {show.english}"))
        return None

    def _show(self, number: str) -> Show | None:
        return self._by_id.get(int(number)) if number.isascii() and number.isdigit() else None

    def _airing(self, weekday: int) -> dict[str, Any]:
        items = [self._subject(show, "air_date") for show in ALL_SHOWS if show.weekday == weekday]
        return {"weekday": {"id": weekday}, "items": [item | {"air_weekday": weekday} for item in items]}

    def _subject(self, show: Show, dated: str) -> dict[str, Any]:
        picture = f"{self._url}/pictures/{show.bgm_id}.png"
        return {
            "id": show.bgm_id,
            "name": show.japanese,
            "name_cn": show.chinese,
            dated: show.began(self._today).isoformat(),
            "eps": _EPISODES,
            "summary": "",
            "images": {"large": picture},
        }

    def _episodes(self, show: Show) -> list[dict[str, Any]]:
        """Twelve episodes, one a week."""
        first = show.began(self._today)
        days = [first + timedelta(weeks=week) for week in range(_EPISODES)]
        return [
            {"sort": number, "name": f"{show.japanese} その{number}", "name_cn": "", "airdate": day.isoformat()}
            for number, day in enumerate(days, 1)
        ]

    def _namesakes(self, year: int) -> list[dict[str, Any]]:
        """What TMDB has of a year: two shows of the same name that no index knows, so that the user has to choose."""
        return [
            _listed(show, day, number)
            for show in ALL_SHOWS
            if not show.is_indexed and (day := show.began(self._today)).year == year
            for number in (show.bgm_id + 1000, show.bgm_id + 1500)
        ]


def _indexed(entry: OfflineEntry) -> dict[str, Any]:
    ids, (chinese, *others) = entry.ids, entry.other_titles
    season = "" if ids.tmdb_season is None else f"/season/{ids.tmdb_season}"
    numbers = {
        "bangumi": ids.bgm_id,
        "tmdb": f"{ids.tmdb_kind}/{ids.tmdb_id}{season}",
        "anidb": ids.anidb_id,
        "aniList": ids.anilist_id,
        "mal": ids.mal_id,
        "mikan": ids.mikan_id,
    }
    return {
        "title": entry.title,
        "titleTranslate": {"zh-Hans": [chinese], "en": others},
        "type": entry.kind,
        "lang": entry.language,
        "begin": f"{entry.air_date}T00:00:00.000Z",
        "sites": [{"site": site, "id": str(number)} for site, number in numbers.items()],
    }


def _listed(show: Show, day: date, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "original_name": show.japanese,
        "first_air_date": day.isoformat(),
        "genre_ids": [_ANIMATION],
        "poster_path": f"/{show.bgm_id}.png",
    }


def _as_answer(answer: Any) -> StandAnswer:
    return StandAnswer("application/json", json.dumps(answer, ensure_ascii=False).encode())
