"""How each library names its files: stored, changed, and tried on examples before it is stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Final

from kurabito.db import Connection, Database, Queries
from kurabito.db.rows import ColumnList
from kurabito.library import libraries
from kurabito.placements.errors import ValueUnknown
from kurabito.placements.naming.examples import EXAMPLES, NamingExample
from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import DEFAULT_NAMING, ExtrasChoice, NamingSettings
from kurabito.placements.naming.sidecars import SubtitleStyle, TrackTag
from kurabito.placements.naming.targets import beside, episode_stem, film_stem, with_extension
from kurabito.placements.naming.tokens import NameFacts

EXAMPLE_COUNT: Final = 10
_OWN_SERIES: Final = 5
"""The rest of the examples has what a user's own series may lack: a film, a special, two episodes in one file."""
_NAMING: Final = ColumnList(", ".join(field.name for field in fields(NamingSettings)))
_SERIES: Final = ColumnList(
    "title, season, kind, year, title_english, title_japanese, title_chinese, tmdb_id, bgm_id, anidb_id"
)
_SQL: Final = Queries("kurabito.placements", "library_naming.sql", naming=_NAMING)
_CHINESE: Final = TrackTag(("zh-Hans",))


@dataclass(frozen=True, slots=True)
class NamePreview:
    """What one example would be called."""

    facts: NameFacts
    video: str | None
    """None: the name needs `missing`."""
    subtitle: str | None = None
    missing: str | None = None


def naming_of(conn: Connection, library_id: int) -> NamingSettings:
    """How a library names its files: as it was told, or as Jellyfin reads them."""
    row = conn.one(_SQL.stored, {"id": library_id})
    if row is None:
        return DEFAULT_NAMING
    stored = _NAMING.row(row)
    return NamingSettings(
        series_folder=stored.series_folder,
        season_folder=stored.season_folder,
        episode_file=stored.episode_file,
        film_folder=stored.film_folder,
        film_file=stored.film_file,
        numbering=NumberingScheme(stored.numbering),
        subtitle_style=SubtitleStyle(stored.subtitle_style),
        extras=ExtrasChoice(stored.extras),
    )


class LibraryNaming:
    """The naming of the libraries of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, library_id: int) -> NamingSettings:
        """How a library names its files; raises LibraryNotFound."""

        def look(conn: Connection) -> NamingSettings:
            libraries.find(conn, library_id)
            return naming_of(conn, library_id)

        return await self._database.read(look)

    async def change(self, library_id: int, naming: NamingSettings) -> NamingSettings:
        """Store it; raises InvalidTemplate or LibraryNotFound. Files that have a name already keep it."""
        naming.check()

        def work(conn: Connection) -> None:
            libraries.find(conn, library_id)
            conn.run(_SQL.store, {"id": library_id, **asdict(naming)})

        await self._database.write(work)
        return naming

    async def preview(self, naming: NamingSettings) -> list[NamePreview]:
        """What ten examples would be called; the user's own series first. Raises InvalidTemplate."""
        naming.check()
        own = await self._database.read(_own_examples)
        return [_previewed(naming, example) for example in (*own, *EXAMPLES)[:EXAMPLE_COUNT]]


def _own_examples(conn: Connection) -> list[NamingExample]:
    rows = [_SERIES.row(row) for row in conn.all(_SQL.known_series, {"limit": _OWN_SERIES})]
    return [
        NamingExample(
            NameFacts(
                title=row.title,
                title_en=row.title_english,
                title_ja=row.title_japanese,
                title_zh=row.title_chinese,
                year=row.year,
                season=row.season,
                episode=(1,),
                absolute=(1,),
                original=f"{row.title} - 01",
                tmdb_id=row.tmdb_id,
                bgm_id=row.bgm_id,
                anidb_id=row.anidb_id,
            ),
            is_film=row.kind == "movie",
        )
        for row in rows
    ]


def _previewed(naming: NamingSettings, example: NamingExample) -> NamePreview:
    facts = example.facts
    if naming.numbering is NumberingScheme.ABSOLUTE and facts.absolute:
        facts = facts._replace(season=1, episode=facts.absolute)
    try:
        stem = film_stem(naming, facts) if example.is_film else episode_stem(naming, facts)
    except ValueUnknown as unknown:
        return NamePreview(facts, None, missing=unknown.token)
    return NamePreview(facts, with_extension(stem, "mkv"), beside(stem, _CHINESE, naming, "ass"))
