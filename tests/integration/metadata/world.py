"""A made-up TMDB and bgm.tv on loopback that speak as the real ones do, and a made-up collection to look up there.

python world.py --latency 0.05        prints its port, and serves until its input ends
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "0123456789abcdef0123456789abcdef"
PAGE = 20
ANIMATION, DRAMA, COMEDY = 16, 18, 35
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"

_FIRST = "青い 夜の 遠い 静かな 七つの 忘れた 白銀の 歌う 眠れる 最後の 黄昏の 小さな 見えない 約束の 風の".split()
_SECOND = (
    "蔵 酒場 魔女 郵便局 図書館 探偵 騎士 庭師 灯台 楽団 商人 料理人 航路 時計 王国 書庫 温泉 迷宮 学園 機関車".split()
)
_THIRD = "物語 日記 冒険譚 と猫 の四季 協奏曲 は眠らない クロニクル ! ~はじまり~ 奇譚 の帰り道".split()


@dataclass(frozen=True)
class Show:
    """An entry of TMDB."""

    id: int
    name: str
    date: str
    genres: tuple[int, ...] = (ANIMATION,)
    language: str = "ja"
    kind: str = "tv"
    local: str = ""
    """Its name in English, where that is another."""
    countries: tuple[str, ...] = ("JP",)

    def told(self) -> dict[str, Any]:
        is_film = self.kind == "movie"
        named, local = ("original_title", "title") if is_film else ("original_name", "name")
        return {
            "id": self.id,
            named: self.name,
            local: self.local or self.name,
            "release_date" if is_film else "first_air_date": self.date,
            **({} if is_film else {"origin_country": list(self.countries)}),
            "genre_ids": list(self.genres),
            "original_language": self.language,
            "poster_path": f"/{self.id}.jpg",
            "popularity": 1.5,
            "vote_average": 7.0,
            "vote_count": 3,
            "overview": "",
        }


@dataclass(frozen=True)
class Wanted:
    """Something of the collection, and which entry of TMDB it truly is."""

    title: str
    year: int
    truth: int | None
    season: int = 1


@dataclass
class World:
    """What the services know, what they were asked, and how they behave."""

    shows: list[Show] = field(default_factory=list)
    calendar: list[dict[str, Any]] = field(default_factory=list)
    subjects: dict[int, dict[str, Any]] = field(default_factory=dict)
    seasons: dict[tuple[int, int], list[str | None]] = field(default_factory=lambda: defaultdict(list))
    """The days of the episodes of a season of TMDB."""
    lost_seasons: set[tuple[int, int]] = field(default_factory=set)
    """Those that TMDB does not have, of shows that it has."""
    episodes: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """The episodes of an entry of bgm.tv."""
    posters: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    """Answers for some paths; every other path below /pic/ is a good picture."""
    latency: float = 0.0
    port: int = 0
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    """What was sent with requests that have a body."""
    troubles: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers that are given before anything else, one each."""
    is_down: bool = False
    bgm_is_down: bool = False
    error_rate: float = 0.0
    """How often TMDB answers that it cannot just now."""
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    season_starts: dict[int, list[str]] = field(default_factory=dict)
    """When each season of a show began, the first one first."""
    hold: asyncio.Event | None = None
    """Pictures wait for it."""
    hold_lists: asyncio.Event | None = None
    """The lists of TMDB wait for it."""
    at_once: int = 0
    most_at_once: int = 0
    """How many pictures were asked for at one moment."""

    def url(self, path: str = "", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def count(self, beginning: str) -> int:
        return sum(path.startswith(beginning) for path in self.asked)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")[:-2]
                target = first.split(" ")[1]
                self.asked.append(target)
                headers_sent = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
                self.headers.append(headers_sent)
                if length := int(headers_sent.get("content-length", "0")):
                    self.bodies.append(await reader.readexactly(length))
                if self.is_down or (self.bgm_is_down and target.startswith(("/v0/", "/calendar"))):
                    return
                await asyncio.sleep(self.latency)
                status, headers, body = await self._answer(target)
                lengths = {"Content-Length": str(len(body)), **headers}
                top = "".join(f"{name}: {value}\r\n" for name, value in lengths.items() if value)
                writer.write(f"HTTP/1.1 {status} .\r\n{top}\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, target: str) -> tuple[int, dict[str, str], bytes]:  # noqa: C901, PLR0912 - a table of routes
        parts = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        match parts.path.strip("/").split("/"):
            case ["3", "discover", kind]:
                if self.hold_lists is not None:
                    await self.hold_lists.wait()
                return self._tmdb(query, lambda: self._discover(kind, query))
            case ["3", "search", kind]:
                return self._tmdb(query, lambda: self._search(kind, query))
            case ["3", "tv" | "movie", *_] if self.troubles:
                return *self.troubles.pop(0), b"{}"
            case ["3", "tv" | "movie" as kind, number]:
                return self._details(kind, int(number), query)
            case ["3", "tv", number, "season", season] if (int(number), int(season)) in self.lost_seasons:
                return _json(404, {"status_code": 34, "success": False})
            case ["3", "tv", number, "season", season]:
                return _json(200, self._season(int(number), int(season), query["language"]))
            case ["v0", "search", "subjects"]:
                return self._search_subjects(json.loads(self.bodies[-1]))
            case ["v0", "episodes"] if self.troubles:
                return *self.troubles.pop(0), b"{}"
            case ["v0", "episodes"]:
                return self._episodes(query)
            case ["calendar"]:
                return _json(200, self.calendar)
            case ["v0", "subjects", _] if self.troubles:
                return *self.troubles.pop(0), b"{}"
            case ["v0", "subjects", number]:
                found = self.subjects.get(int(number))
                return _json(200, found) if found else _json(404, {"title": "Not Found"})
            case _:
                return await self._picture(parts.path)

    def _tmdb(self, query: dict[str, str], find: Any) -> tuple[int, dict[str, str], bytes]:
        if self.troubles:
            status, headers = self.troubles.pop(0)
            return status, headers, b"{}"
        if self.chance.random() < self.error_rate:
            return self.chance.choice((429, 500, 502, 503, 504)), {}, b"{}"
        if query.get("api_key") != KEY:
            return _json(401, {"status_code": 7, "status_message": "Invalid API key", "success": False})
        found, page = find(), int(query.get("page", "1"))
        pages = -(-len(found) // PAGE)
        if page > max(pages, 1):
            return _json(404, {"status_code": 34, "success": False})
        shown = [show.told() for show in found[(page - 1) * PAGE : page * PAGE]]
        return _json(200, {"page": page, "results": shown, "total_pages": pages, "total_results": len(found)})

    def _search(self, kind: str, query: dict[str, str]) -> list[Show]:
        """By any of its names, however they are typed."""
        asked = _searched(query["query"])
        year = query.get("first_air_date_year") or query.get("primary_release_year") or ""
        return [
            show
            for show in self.shows
            if show.kind == kind
            and show.date.startswith(year)
            and any(asked in _searched(name) for name in (show.name, show.local))
        ]

    def _details(self, kind: str, number: int, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if self.chance.random() < self.error_rate:
            return self.chance.choice((429, 500, 502, 503, 504)), {}, b"{}"
        show = next((show for show in self.shows if (show.kind, show.id) == (kind, number)), None)
        if show is None:
            return _json(404, {"status_code": 34, "success": False})
        seasons = [
            {"season_number": place, "air_date": day, "poster_path": f"/{number}-{place}.jpg", "episode_count": 12}
            for place, day in enumerate(self.season_starts.get(number, [show.date]), 1)
        ]
        said: dict[str, Any] = {**show.told(), "seasons": seasons, "backdrop_path": f"/backdrop{number}.jpg"}
        said["overview"] = f"{number} ({query.get('language', 'en-US')})"
        said["genres"] = [{"id": genre, "name": "?"} for genre in said.pop("genre_ids")]
        for part in filter(None, query.get("append_to_response", "").split(",")):
            if part == "translations":
                told = [("en", "US"), ("zh", "CN"), ("zh", "TW"), ("fr", "FR")]
                listed = [
                    {"iso_639_1": one, "iso_3166_1": where, "data": {"overview": f"{number} ({one}-{where})"}}
                    for one, where in told
                ]
                said[part] = {"translations": listed}
            elif (number, season := int(part.partition("/")[2])) not in self.lost_seasons:
                said[part] = self._season(number, season, query["language"])
        return _json(200, said)

    def _season(self, show: int, season: int, language: str) -> dict[str, Any]:
        """The second episode has a title in Japanese only."""
        days = self.seasons[show, season]
        names = {(2, "en-US"): "Episode 2", (2, "zh-CN"): "第 2 集", (2, "zh-TW"): "第 2 集"}
        return {
            "season_number": season,
            "episodes": [
                {"episode_number": one, "name": names.get((one, language), f"{one} ({language})"), "air_date": day}
                for one, day in enumerate(days, 1)
            ],
        }

    def _search_subjects(self, wanted: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if wanted["filter"] != {"type": [2]}:
            return _json(400, {"title": "Bad Request"})
        found = [one for one in self.subjects.values() if wanted["keyword"] in one["name"]]
        return _json(200, {"total": len(found), "limit": 20, "offset": 0, "data": found})

    def _episodes(self, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        listed, offset, limit = (
            self.episodes.get(int(query["subject_id"]), []),
            int(query["offset"]),
            int(query["limit"]),
        )
        if limit > 200:
            return _json(400, {"title": "Bad Request"})
        return _json(
            200, {"total": len(listed), "limit": limit, "offset": offset, "data": listed[offset : offset + limit]}
        )

    def _discover(self, kind: str, query: dict[str, str]) -> list[Show]:
        year = query.get("primary_release_year" if kind == "movie" else "first_air_date_year")
        language = query.get("with_original_language")
        fitting = (kind, language, year)
        found = [show for show in self.shows if (show.kind, show.language, show.date[:4]) == fitting]
        if query.get("sort_by", "").endswith("_date.asc"):
            return sorted(found, key=lambda show: (show.date, show.id))
        # As popular as chance will have it, and another order at each request.
        return random.Random(len(self.asked)).sample(found, len(found))

    async def _picture(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path in self.posters:
            return self.posters[path]
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.hold is not None:
                await self.hold.wait()
        finally:
            self.at_once -= 1
        return 200, {"Content-Type": "image/jpeg"}, JPEG + path.encode() * 500


def _searched(name: str) -> str:
    bare = (letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    words = "".join(letter if letter.isalnum() else " " * (letter != "'") for letter in bare).casefold().split()
    return "".join(word for word in words if word not in ("the", "and")) or name


def _json(status: int, body: Any) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(body, ensure_ascii=False).encode()


def entry(bgm_id: int, name: str, weekday: int = 1, **further: Any) -> dict[str, Any]:
    """An item of the calendar of bgm.tv."""
    picture = f"/pic/cover/l/{bgm_id}.jpg"
    told = {
        "id": bgm_id,
        "url": f"http://bgm.test/subject/{bgm_id}",
        "type": 2,
        "name": name,
        "name_cn": "",
        "summary": "",
        "air_date": "2022-10-05",
        "air_weekday": weekday,
        "images": {"large": picture, "common": f"/r/400{picture}"},
    }
    return {**told, **further}


def names(seed: int = 7) -> Iterator[str]:
    """Names of made-up shows, none of them twice."""
    every = [f"{a}{b}{c}" for a in _FIRST for b in _SECOND for c in _THIRD]
    chance = random.Random(seed)
    chance.shuffle(every)
    yield from every
    for number in range(1, 1000):
        yield from (f"{name} {number}号室" for name in every)


def populate(world: World, years: range, *, shows: int = 1050, seed: int = 7) -> list[Wanted]:  # noqa: C901 - a table of cases
    """Fill the world with so many shows a year, and give a collection to look up in it."""
    chance, fresh, wanted = random.Random(seed), names(seed), []
    number = iter(range(1000, 10_000_000))

    def add(name: str, year: int, *genres: int, language: str = "ja") -> int:
        date = f"{year}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        world.shows.append(Show(next(number), name, date, genres or (ANIMATION, COMEDY), language))
        return world.shows[-1].id

    for year in years:
        for place in range(shows // 3):
            name = next(fresh)
            truth = add(name, year)
            kind = place % 20
            if kind < 4:
                # The same name as live action, in the same year or near it.
                add(name, year + (0, 0, 1, -1)[kind], DRAMA)
            elif kind == 4:
                # A remake of a classic.
                add(name, year - chance.randint(2, 30))
            elif kind == 5:
                add(name, year, language="ko")
            elif kind == 6:
                # TMDB took the day of the first showing, which was the year before.
                truth = add(name + " 零", year - 1)
                name += " 零"
            elif kind == 7:
                # Two that nobody can tell apart by their name.
                add(name, year)
                wanted.append(Wanted(name, year, None))
                continue
            wanted.append(Wanted(name, year, truth))
            if kind in (8, 9, 10):
                mark = (" 第2期", " 2nd Season", "Ⅲ")[kind - 8]
                wanted.append(Wanted(name + mark, year + 2, truth, 3 if kind == 10 else 2))
            if kind == 11:
                # Known to nobody but its keeper; some other show has a name that only looks alike.
                wanted.append(Wanted(name + "!!", year, None))
        for _ in range(shows - shows // 3):
            add(next(fresh), year, DRAMA)
    return wanted


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.0)
    world = World(latency=parser.parse_args().latency)
    populate(world, range(2020, 2023))
    world.seasons = defaultdict(lambda: ["2020-01-01", "2020-01-08", "2020-01-15"])
    server = await asyncio.start_server(world.serve, "127.0.0.1", 0, backlog=512)
    async with server:
        print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - whoever started it has to know
        await asyncio.to_thread(sys.stdin.read)
    print(dict(Counter(urlsplit(path).path.split("/")[1] for path in world.asked)))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_main())
