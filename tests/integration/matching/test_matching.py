"""The folders that a scan adds are matched by what is known offline; what is not clear is never guessed at."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.errors import MatchNotFound
from kurabito.catalog.matching.model import MatchedBy, MatchReason, MatchState
from kurabito.errors import InvalidInput
from kurabito.metadata import records
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry

if TYPE_CHECKING:
    from tests.integration.matching.conftest import Desk


def entry(
    bgm_id: int,
    title: str,
    year: int,
    *others: str,
    kind: RecordKind = RecordKind.TV,
    show: int | None = None,
    season: int | None = None,
    **further: Any,
) -> OfflineEntry:
    world = None if show is None else (TmdbKind.MOVIE if kind is RecordKind.MOVIE else TmdbKind.TV)
    return OfflineEntry(
        title=title,
        kind=kind,
        language="ja",
        ids=Ids(bgm_id=bgm_id, tmdb_id=show, tmdb_kind=world, tmdb_season=season),
        air_date=date(year, 4, 1),
        other_titles=others,
        **further,
    )


INDEX = (
    entry(1, "蔵の夜", 2018, "Kura no Yoru", "Night of the Storehouse", show=70, season=1),
    entry(2, "蔵の夜 第2期", 2020, "Kura no Yoru 2nd Season", show=70, season=2),
    entry(3, "蔵の夜 完結編", 2022, show=70, season=3),
    # The same name: a remake, and a film.
    entry(4, "風の灯台", 1998, "Lighthouse of the Wind", show=80, season=1),
    entry(5, "風の灯台", 2019, "Lighthouse of the Wind", show=81, season=1),
    entry(6, "七つの時計", 2015, "Seven Clocks", show=90, season=1),
    entry(7, "七つの時計", 2016, "Seven Clocks", kind=RecordKind.MOVIE, show=91),
    # One season of TMDB in two parts.
    entry(8, "白銀の庭師", 2017, "Silver Gardener", show=95, season=1),
    entry(9, "白銀の庭師 前半", 2021, show=95, season=2),
    entry(10, "白銀の庭師 後半", 2021, show=95, season=2),
    entry(11, "Mob Kura 100", 2016, show=97, season=1),
    entry(12, "Mob Kura 100 II", 2019, show=97, season=2),
    # Two that differ by a sign.
    entry(13, "兎の喫茶店?", 2014, show=98, season=1),
    entry(14, "兎の喫茶店??", 2015, show=98, season=2),
    # A later season whose name has another mark than people give it.
    entry(15, "猫の蔵", 2005, "Neko no Kura", "The Cat in the Cellar", show=99, season=1),
    entry(16, "猫の蔵 セカンド", 2007, "Neko no Kura Second", show=99, season=2),
    # A name that begins with another one, in another script.
    entry(17, "野の蔵", 2014, "流浪蔵"),
    entry(18, "野の蔵 ARAGOTO", 2015, "流浪蔵 ARAGOTO"),
)

# Folder, a file in it, and the entry that it is about; None where nobody can tell.
CASES = [
    ("Kura no Yoru", "Kura no Yoru - 01.mkv", 1),
    ("蔵の夜", "01.mkv", 1),
    ("Anime/Night of the Storehouse (2018)", "E01.mkv", 1),
    ("[Kura] Kura no Yoru [1080p][BD]", "[Kura] Kura no Yoru - 01 [1080p].mkv", 1),
    ("TV/Kura no Yoru/Season 1", "S01E01.mkv", 1),
    ("TV/Kura no Yoru/Season 2", "S02E01.mkv", 2),
    ("Shows/Kura no Yoru (2018)/Season 02", "S02E01.mkv", 2),
    ("蔵の夜 第2期", "01.mkv", 2),
    ("蔵の夜 第二季", "01.mkv", 2),
    ("Kura no Yoru S2", "01.mkv", 2),
    # No name of the third season has a mark; the show and its season lead there.
    ("Night of the Storehouse/Season 3", "S03E01.mkv", 3),
    ("Kura no Yoru (as it was filed)", "Kura no Yoru S02E01.mkv", 2),
    ("Lighthouse of the Wind", "01.mkv", None),
    ("Lighthouse of the Wind (2019)", "01.mkv", 5),
    ("Lighthouse of the Wind (1998)", "01.mkv", 4),
    ("Lighthouse of the Wind (2008)", "01.mkv", None),
    ("Seven Clocks", "01.mkv", None),
    ("Movies/Seven Clocks (2016)", "Seven Clocks.mkv", 7),
    ("Movies/Seven Clocks", "Seven Clocks.mkv", 7),
    ("Seven Clocks (2015)", "01.mkv", 6),
    ("Seven Clocks/Season 1", "01.mkv", 6),
    ("Silver Gardener", "01.mkv", 8),
    ("Silver Gardener/Season 2", "01.mkv", None),
    ("Mob Kura 100", "01.mkv", 11),
    ("Mob Kura 100 II", "01.mkv", 12),
    ("兎の喫茶店\uff1f", "01.mkv", 13),
    ("兎の喫茶店\uff1f\uff1f", "01.mkv", 14),
    ("兎の喫茶店", "01.mkv", None),
    ("Cat in the Cellar", "01.mkv", 15),
    ("Neko no Kura II", "01.mkv", 16),
    ("Neko no Kura 2 (2007)", "01.mkv", 16),
    ("Neko no Kura IV", "01.mkv", None),
    ("Neko no Kura S2 (2012)", "01.mkv", None),
    ("流浪蔵 ARAGOTO", "01.mkv", 18),
    ("流浪蔵", "01.mkv", 17),
    ("Disc 1", "Kura no Yoru - 01.mkv", 1),
    ("Nobody Knows This", "Nobody Knows This - 01.mkv", None),
]


async def test_folders_are_matched_by_name_year_season_and_kind_and_nothing_is_guessed(desk: Desk) -> None:
    desk.index(*INDEX)
    files = [f"{folder}/{name}" for folder, name, _ in CASES]
    left = await desk.scan(
        *files, "Kura no Yoru/Specials/01.mkv", "Kura no Yoru/cover.jpg", "Anime/loose.mkv", "root.mkv"
    )

    found = await desk.all(MatchState.MATCHED)
    told = {folder: desk.get(match.metadata_id).details.bgm_id for folder, match in found.items()}
    assert told == {folder: bgm_id for folder, _, bgm_id in CASES if bgm_id is not None}
    still_open = await desk.open()
    assert set(still_open) == {folder for folder, _, bgm_id in CASES if bgm_id is None}
    assert left == len(still_open)
    assert desk.filled_in == ["sync"]
    # Each entry has one record, however many folders are about it.
    assert desk.count_records() == len({bgm_id for _, _, bgm_id in CASES if bgm_id is not None})

    offered = {
        folder: {one.details.bgm_id: set(one.reasons) for one in match.candidates}
        for folder, match in still_open.items()
    }
    assert offered["Lighthouse of the Wind"] == {n: {MatchReason.NAME, MatchReason.SHARED_NAME} for n in (4, 5)}
    assert offered["Lighthouse of the Wind (2008)"] == {n: {MatchReason.NAME, MatchReason.OTHER_YEAR} for n in (4, 5)}
    assert offered["Silver Gardener/Season 2"] == {
        8: {MatchReason.SAME_SHOW, MatchReason.OTHER_SEASON},
        9: {MatchReason.SAME_SHOW, MatchReason.SHARED_NAME},
        10: {MatchReason.SAME_SHOW, MatchReason.SHARED_NAME},
    }
    assert offered["Nobody Knows This"] == {}
    assert found["Lighthouse of the Wind (2019)"].reasons == (MatchReason.NAME, MatchReason.YEAR)
    assert found["Night of the Storehouse/Season 3"].reasons == (MatchReason.SAME_SHOW,)


async def test_a_folder_with_several_seasons_is_left_to_its_keeper(desk: Desk) -> None:
    desk.index(*INDEX)
    assert await desk.scan("Kura no Yoru/Kura no Yoru S01E01.mkv", "Kura no Yoru/Kura no Yoru S02E01.mkv") == 1
    (match,) = (await desk.open()).values()
    assert match.reading.has_several_seasons
    # Nor is it guessed at when it is looked at again.
    await desk.online(None).match_again()
    assert list(await desk.open()) == ["Kura no Yoru"]


async def test_a_record_is_found_by_any_of_its_names_and_by_what_the_index_says_of_it(desk: Desk) -> None:
    desk.index(*INDEX)
    own = desk.record(title_japanese="誰も知らない話", title_english="Untold Tale", year=2001)
    known = desk.record(title_japanese="蔵の夜", year=2018)
    assert await desk.scan("untold_tale/01.mkv", "Kura no Yoru/01.mkv") == 0
    found = await desk.all(MatchState.MATCHED)
    assert {folder: match.metadata_id for folder, match in found.items()} == {"untold_tale": own, "Kura no Yoru": known}
    # With another name it is found by that one, and by the old one no more.
    desk.database.write_blocking(lambda conn: records.change(conn, own, {"title_english": "Told Tale"}))
    assert await desk.scan("Told Tale!/01.mkv", "Untold Tale (again)/Untold Tale - 01.mkv") == 1
    assert list(await desk.open()) == ["Untold Tale (again)"]


async def test_a_series_of_the_catalog_gives_its_folder_its_record_and_gets_one(desk: Desk) -> None:
    for series_id, title, year in ((1, "Own Name", None), (2, "Known Elsewhere", None), (3, "Old Name", 1990)):
        desk.run(
            "INSERT INTO series (id, title, year, created_at, updated_at) VALUES (:id, :title, :year, :now, :now)",
            id=series_id,
            title=title,
            year=year,
        )
        desk.run(
            "INSERT INTO series_aliases (folded, kind, season, name, series_id) VALUES (:folded, 'tv', 1, :title, :id)",
            folded=title.replace(" ", "").lower(),
            title=title,
            id=series_id,
        )
    record = desk.record(title_japanese="別の名")
    desk.run("UPDATE series SET metadata_id = :record WHERE id = 2", record=record)
    left = await desk.scan(
        "Own Name/01.mkv", "Known Elsewhere/01.mkv", "Own Name (2011)/01.mkv", "Old Name (2020)/01.mkv"
    )
    assert left == 2
    found = await desk.all(MatchState.MATCHED)
    assert {folder: match.series_id for folder, match in found.items()} == {"Own Name": 1, "Known Elsewhere": 2}
    assert found["Known Elsewhere"].metadata_id == record
    assert (await desk.catalog.get(1)).metadata_id == found["Own Name"].metadata_id
    assert desk.get(found["Own Name"].metadata_id).details.title_english == "Own Name"


async def test_a_folder_named_by_a_feed_is_what_all_names_of_its_series_say(desk: Desk) -> None:
    desk.index(
        OfflineEntry("蔵の夜", RecordKind.TV, "ja", Ids(bgm_id=7), date(2023, 10, 1), other_titles=("藏之夜",)),
    )
    for series_id, title in ((1, "Kura no Yoru"), (2, "Nowhere Listed")):
        desk.run(
            "INSERT INTO series (id, title, created_at, updated_at) VALUES (:id, :title, :now, :now)",
            id=series_id,
            title=title,
        )
    for series_id, name in ((1, "Kura no Yoru"), (1, "藏之夜"), (2, "Nowhere Listed")):
        desk.run(
            "INSERT INTO series_aliases (folded, kind, season, name, series_id) VALUES (:folded, 'tv', 1, :name, :id)",
            folded=name.replace(" ", "").lower(),
            name=name,
            id=series_id,
        )
    assert await desk.scan("Kura no Yoru/Season 01/01.mkv", "Nowhere Listed/01.mkv") == 0
    found = await desk.all(MatchState.MATCHED)
    known = {match.series_id: desk.get(match.metadata_id).details for match in found.values()}
    assert (known[1].bgm_id, known[1].title_japanese) == (7, "蔵の夜")
    assert (known[2].bgm_id, known[2].title_english) == (None, "Nowhere Listed")
    assert (await desk.catalog.get(1)).metadata_id == found["Kura no Yoru/Season 01"].metadata_id


async def test_a_choice_stays_through_rescans_renames_and_what_is_learned_later(desk: Desk) -> None:
    desk.index(*INDEX)
    await desk.scan("Lighthouse of the Wind/01.mkv", "Nobody Knows This/01.mkv", "Seven Clocks/01.mkv")
    lighthouse, unknown, clocks = (await desk.open()).values()
    chosen = await desk.matches.choose(lighthouse.id, "bgm:5")
    assert (chosen.state, chosen.matched_by) == (MatchState.CHOSEN, MatchedBy.KEEPER)
    assert desk.get(chosen.metadata_id).details.bgm_id == 5
    own = desk.record(title_chinese="某")
    await desk.matches.choose_record(unknown.id, own)
    assert (await desk.matches.ignore(clocks.id)).state is MatchState.IGNORED
    assert await desk.open() == {}

    # A rescan with more in it, a disk that is away, renames of folder and record, another index, another round: nothing of it changes a choice.
    await desk.scan("Lighthouse of the Wind/02.mkv", "Seven Clocks/02.mkv")
    await desk.scan(
        moved={f"Lighthouse of the Wind/0{n}.mkv": f"Lighthouse (1998)/0{n}.mkv" for n in (1, 2)},
        gone=["Seven Clocks/01.mkv", "Seven Clocks/02.mkv", "Nobody Knows This/01.mkv"],
    )
    desk.database.write_blocking(lambda conn: records.change(conn, own, {"title_chinese": "别的"}))
    desk.index(entry(20, "Nobody Knows This", 2020), *INDEX)
    await desk.online(None).match_again()
    told = await desk.all(MatchState.CHOSEN)
    assert {folder: match.metadata_id for folder, match in told.items()} == {
        "Lighthouse (1998)": chosen.metadata_id,
        "Nobody Knows This": own,
    }
    assert list(await desk.all(MatchState.IGNORED)) == ["Seven Clocks"]
    assert await desk.open() == {}

    # Only who chose can take it back; a record that is forgotten asks anew.
    await desk.matches.reopen(clocks.id)
    desk.database.write_blocking(lambda conn: records.forget(conn, own))
    assert set(await desk.open()) == {"Seven Clocks", "Nobody Knows This"}
    with pytest.raises(InvalidInput, match="is not a candidate"):
        await desk.matches.choose(clocks.id, "bgm:99")
    with pytest.raises(MatchNotFound):
        await desk.matches.ignore(12345)


async def test_a_scan_counts_its_own_folders_and_may_be_matched_twice(desk: Desk) -> None:
    desk.index(*INDEX)
    assert await desk.scan("Nobody/01.mkv", "Kura no Yoru/01.mkv") == 1
    assert await desk.scan("Kura no Yoru/02.mkv") == 0
    assert await desk.scan("Nobody Else/01.mkv", "Nobody/02.mkv", library_id=2) == 2
    again = await desk.matcher.match(1, "job 1")
    assert again == 1
    records_before = desk.count_records()
    assert await desk.matcher.match(2, "job 3") == 2
    assert desk.count_records() == records_before
    # A folder that is gone waits no longer; one that came by a rename is new.
    assert await desk.scan(gone=["Nobody/01.mkv"]) == 0
    assert {match.library_id for match in (await desk.open()).values()} == {2}
    assert await desk.scan(moved={"Kura no Yoru/02.mkv": "Somewhere Else/02.mkv"}) == 1
    desk.run("DELETE FROM library_roots WHERE id = 2")
    assert set(await desk.open()) == {"Somewhere Else"}


async def test_a_thousand_folders_are_matched_by_a_few_questions(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 1_000
    desk.index(*(entry(n, f"蔵の話{n}", 2000 + n % 20, f"Tale of Storehouse {n:04}x") for n in range(1, many + 1)))
    asked = []
    all_rows = type(desk.database.read_blocking(lambda conn: conn)).all

    def count(self: Any, sql: str, *values: Any) -> Any:
        asked.append(sql)
        return all_rows(self, sql, *values)

    monkeypatch.setattr(type(desk.database.read_blocking(lambda conn: conn)), "all", count)
    left = await desk.scan(*(f"Tale of Storehouse {n:04}x/{e:02}.mkv" for n in range(1, many + 1) for e in (1, 2)))
    assert left == 0
    assert desk.count_records() == many
    assert len(asked) < 40
