"""Plans for downloads: what is known of the series decides what the names leave open, and what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kurabito.placements.naming.numbering import EntryNumbers, NumberingScheme, NumberSpan, SpecialNumber
from kurabito.placements.naming.presets import PRESETS, ExtrasChoice, NamingSettings, Preset
from kurabito.placements.naming.tokens import NameFacts
from kurabito.placements.plans import FilePlan, ListedFile, PlanContext, ShowContext, plan_files
from kurabito.placements.plans.model import FileAction, FileRuling, HadFile, ReleaseFacts, Work, WorkKind
from kurabito.placements.plans.reasons import PlanReason

ENTRY = replace(PRESETS[Preset.JELLYFIN], numbering=NumberingScheme.ENTRY)
FIRST = ShowContext(
    series_id=1,
    names=("Koji", "麹"),
    episodes=frozenset(range(1, 13)),
    facts=NameFacts(title="Koji", year=2020, tmdb_id=5),
)
SECOND = ShowContext(
    series_id=2,
    names=("Koji", "Koji 2nd"),
    season=2,
    episode_offset=12,
    episodes=frozenset(range(1, 14)),
    numbers=EntryNumbers(season=2, before=12),
    facts=NameFacts(title="Koji", year=2020, tmdb_id=5),
)


def plan(
    names: Sequence[str], *shows: ShowContext, link: Sequence[int] = (), naming: NamingSettings = ENTRY
) -> FilePlan:
    context = PlanContext(shows=shows, link_episodes=tuple(link), naming=naming)
    return plan_files([ListedFile(name) for name in names], context)


def episodes(found: FilePlan) -> list[tuple[int | None, int | None, tuple[float, ...]] | PlanReason]:
    """Of each file its series, season and episodes; or the reason why that is asked."""
    return [
        (file.work.series_id, file.work.season, file.work.episodes)
        if file.action is FileAction.FILE and file.work
        else file.reason.code
        for file in found.files
    ]


def test_the_folder_of_the_library_has_the_series_own_title_year_and_id() -> None:
    found = plan(["[Kura] 麹 - 03 [1080p].mkv"], FIRST)
    assert found.files[0].target == "Koji (2020) [tmdbid-5]/Season 01/Koji S01E03.mkv"


def test_a_folder_that_the_series_has_already_is_kept() -> None:
    kept = replace(FIRST, folder="Anime/Koji!", season_folders={1: "S1"})
    assert plan(["Koji - 03.mkv"], kept).files[0].target == "Anime/Koji!/S1/Koji S01E03.mkv"


def test_a_number_that_only_counts_on_is_of_the_second_season() -> None:
    assert episodes(plan(["Koji - 25.mkv"], SECOND)) == [(2, 2, (13,))]
    assert episodes(plan(["Koji - 14.mkv"], FIRST, SECOND)) == [(2, 2, (2,))]


def test_a_number_that_may_be_either_is_asked_with_both() -> None:
    found = plan(["Koji 2nd - 13.mkv"], SECOND)
    assert episodes(found) == [PlanReason.MAYBE_ABSOLUTE]
    assert sorted(work.episodes for work in found.files[0].candidates) == [(1,), (13,)]


def test_the_episode_that_was_fetched_decides() -> None:
    assert episodes(plan(["Koji 2nd - 13.mkv"], SECOND, link=[1])) == [(2, 2, (1,))]


def test_the_other_files_of_a_batch_decide() -> None:
    assert episodes(plan([f"Koji 2nd - {number}.mkv" for number in (13, 14, 25)], SECOND)) == [
        (2, 2, (1,)),
        (2, 2, (2,)),
        (2, 2, (13,)),
    ]
    assert episodes(plan([f"Koji 2nd - {number:02}.mkv" for number in (1, 2, 13)], SECOND))[-1] == (2, 2, (13,))


def test_a_number_with_its_season_is_of_the_season() -> None:
    assert episodes(plan(["Koji S02E13.mkv"], SECOND)) == [(2, 2, (13,))]


def test_an_episode_outside_the_series_is_asked() -> None:
    found = plan(["Koji - 40.mkv", "Koji - 01.mkv"], FIRST)
    assert episodes(found) == [PlanReason.OUTSIDE, (1, 1, (1,))]
    assert found.files[0].reason.facts["known"] == [1, 12]


def test_another_season_of_a_pack_is_asked_unless_it_is_known() -> None:
    names = ["Koji/Season 1/Koji - 01.mkv", "Koji/Season 2/Koji - 01.mkv"]
    assert episodes(plan(names, FIRST)) == [(1, 1, (1,)), PlanReason.OUTSIDE]
    assert episodes(plan(names, FIRST, SECOND)) == [(1, 1, (1,)), (2, 2, (1,))]


def test_another_show_in_the_batch_is_asked() -> None:
    assert episodes(plan(["Koji - 01.mkv", "Sake - 02.mkv"], FIRST)) == [(1, 1, (1,)), PlanReason.OTHER_SHOW]
    assert episodes(plan(["Another Name - 01.mkv"], FIRST)) == [(1, 1, (1,))]


def test_a_film_in_the_batch_of_a_series_is_asked() -> None:
    assert episodes(plan(["Koji - 01.mkv", "Koji Movie [BD].mkv"], FIRST)) == [(1, 1, (1,)), PlanReason.OTHER_SHOW]


def test_the_only_video_is_the_episode_that_was_fetched() -> None:
    assert episodes(plan(["a8f3c9d1e7b24650.mkv"], FIRST, link=[4])) == [(1, 1, (4,))]
    assert episodes(plan(["abc.mkv"], FIRST)) == [PlanReason.NO_NUMBER]


def test_the_only_video_of_a_show_that_nothing_says_a_number_of_may_be_a_film() -> None:
    (asked,) = plan(["[Kura] Sake no Uta (2016) [1080p].mkv"], FIRST).files
    assert asked.reason.code is PlanReason.NO_NUMBER
    assert [(one.kind, one.title, one.year) for one in asked.candidates] == [(WorkKind.FILM, "Sake no Uta", 2016)]


def test_the_only_video_of_a_film_is_the_film() -> None:
    film = ShowContext(series_id=7, names=("Sake 3",), is_film=True, facts=NameFacts(title="Sake 3", year=2021))
    found = plan(["[Kura] Sake - 3 [1080p].mkv", "[Kura] Sake - 3 [1080p].sc.ass"], film)
    assert [file.target for file in found.files] == [
        "Sake 3 (2021)/Sake 3 (2021).mkv",
        "Sake 3 (2021)/Sake 3 (2021).zh-Hans.ass",
    ]


@pytest.mark.parametrize(
    ("had", "code"),
    [
        (HadFile(release=ReleaseFacts(group="Kura", resolution=1080)), PlanReason.HAD),
        (HadFile(release=ReleaseFacts(group="Kura", resolution=1080), replaceable=True), PlanReason.BETTER),
        (HadFile(release=ReleaseFacts(group="Kura", version=2), replaceable=True), PlanReason.HAD),
        (HadFile(release=ReleaseFacts(group="Other", resolution=720), replaceable=True), PlanReason.BETTER),
        (HadFile(release=ReleaseFacts(group="Other", resolution=2160), replaceable=True), PlanReason.HAD),
        (
            HadFile(release=ReleaseFacts(group="Kura"), replaceable=True, only_newer_version=True),
            PlanReason.BETTER,
        ),
        (
            HadFile(release=ReleaseFacts(group="Other", resolution=720), replaceable=True, only_newer_version=True),
            PlanReason.HAD,
        ),
    ],
)
def test_an_episode_that_is_had_is_left_unless_this_one_is_better(had: HadFile, code: PlanReason) -> None:
    had = replace(had, path="Koji/Koji - 01.mkv")
    found = plan(["[Kura] Koji - 01v2 [1080p].mkv", "[Kura] Koji - 02 [1080p].mkv"], replace(FIRST, had={1: had}))
    assert [file.reason.code for file in found.files] == [code, PlanReason.EPISODE]


def test_what_a_person_said_outweighs_the_names() -> None:
    names = ["[Kura] Koji - 01 [1080p].mkv", "[Other] Koji - 01 [1080p].mkv", "[Other] Koji - 01 [1080p].sc.ass"]
    first = Work(kind=WorkKind.EPISODE, title="Koji", season=1, episodes=(1,), series_id=FIRST.series_id)
    assert [file.reason.code for file in plan(names, FIRST).files[:2]] == [PlanReason.TWO_FILES] * 2
    said = {names[1]: FileRuling(work=first)}
    found = plan_files([ListedFile(name) for name in names], PlanContext(shows=(FIRST,), naming=ENTRY, said=said))
    assert [file.reason.code for file in found.files] == [PlanReason.NOT_CHOSEN, PlanReason.SAID, PlanReason.WITH_VIDEO]
    assert [file.action for file in found.files] == [FileAction.LEAVE, FileAction.FILE, FileAction.FILE]
    left = plan_files([ListedFile("Koji.rar")], PlanContext(shows=(FIRST,), said={"Koji.rar": FileRuling(work=None)}))
    assert [(file.action, file.reason.code) for file in left.files] == [(FileAction.LEAVE, PlanReason.SAID)]


def test_numbers_that_a_person_said_need_no_record() -> None:
    jellyfin = PRESETS[Preset.JELLYFIN]
    work = Work(kind=WorkKind.EPISODE, title="Koji", season=3, episodes=(4,), series_id=SECOND.series_id)
    said = {"Koji S02E03.mkv": FileRuling(work=work, is_numbered=True)}
    context = PlanContext(shows=(SECOND,), naming=jellyfin, said=said)
    (file,) = plan_files([ListedFile("Koji S02E03.mkv")], context).files
    assert file.target == "Koji (2020) [tmdbid-5]/Season 03/Koji S03E04.mkv"


def test_tmdb_numbers_are_used_and_asked_for_where_no_record_says_them() -> None:
    jellyfin = PRESETS[Preset.JELLYFIN]
    cour = replace(SECOND, numbers=EntryNumbers(season=2, before=12, tmdb=(NumberSpan(1, 13, 1, 13),)))
    found = plan(["Koji S02E03.mkv", "Koji S02E03.ass"], cour, naming=jellyfin)
    assert [file.target for file in found.files] == [
        "Koji (2020) [tmdbid-5]/Season 01/Koji S01E15.mkv",
        "Koji (2020) [tmdbid-5]/Season 01/Koji S01E15.ass",
    ]
    assert episodes(plan(["Koji S02E03.mkv"], SECOND, naming=jellyfin)) == [PlanReason.NO_MAPPING]


def test_a_decimal_is_numbered_only_where_the_record_says_how() -> None:
    assert plan(["Koji - 12.5.mkv"], FIRST).files[0].target == "Koji (2020) [tmdbid-5]/Season 00/Koji (12.5).mkv"
    known = replace(FIRST, numbers=EntryNumbers(specials=(SpecialNumber("12.5", 3),)))
    assert plan(["Koji - 12.5.mkv"], known).files[0].target == "Koji (2020) [tmdbid-5]/Season 00/Koji S00E03.mkv"


def test_extras_stay_where_they_are_if_the_library_says_so() -> None:
    context = PlanContext(shows=(FIRST,), naming=replace(ENTRY, extras=ExtrasChoice.LEAVE))
    found = plan_files([ListedFile("Koji - 01.mkv"), ListedFile("Koji - NCOP.mkv")], context)
    assert [file.reason.code for file in found.files] == [PlanReason.EPISODE, PlanReason.EXTRA_STAYS]


def test_two_files_with_one_name_are_asked_and_not_filed() -> None:
    released = PRESETS[Preset.AS_RELEASED]
    found = plan(["a/Koji - 01.mkv", "b/KOJI - 01.mkv", "b/Koji - 02.mkv"], FIRST, naming=released)
    assert [file.action for file in found.files] == [FileAction.ASK, FileAction.ASK, FileAction.FILE]
    special = plan(["a/Koji OVA.mkv", "b/Koji - OVA.mkv"], FIRST)
    assert [file.action for file in special.files] == [FileAction.ASK, FileAction.ASK]


def test_the_template_that_needs_what_is_not_known_asks() -> None:
    naming = replace(ENTRY, episode_file="{title} {episode_title}")
    found = plan_files([ListedFile("Koji - 01.mkv")], PlanContext(shows=(FIRST,), naming=naming))
    assert found.files[0].reason.code is PlanReason.NO_VALUE
    assert found.files[0].reason.facts == {"token": "episode_title"}


def test_a_pack_with_a_numbered_sequel_is_both_seasons() -> None:
    found = plan(["[Kura] Koji - 01.mkv", "[Kura] Koji II - 01.mkv"], FIRST, SECOND)
    assert episodes(found) == [(1, 1, (1,)), (2, 2, (1,))]


def test_three_digits_are_asked_about_where_the_series_has_so_many_episodes() -> None:
    long = replace(FIRST, episodes=frozenset(range(1, 151)))
    assert episodes(plan(["Koji.107.HDTV.x264.mkv"], FIRST)) == [(1, 1, (7,))]
    assert episodes(plan(["Koji.107.HDTV.x264.mkv"], long)) == [PlanReason.MAYBE_ABSOLUTE]


def test_shows_told_by_their_days_are_asked_about() -> None:
    found = plan([f"Koji.2024.03.{day}.720p.WEB.mkv" for day in (11, 12, 13)], FIRST)
    assert episodes(found) == [PlanReason.NO_NUMBER] * 3


def test_files_count_a_season_where_no_record_does() -> None:
    first, second = replace(FIRST, episodes=frozenset()), ShowContext(series_id=2, names=("Koji",), season=2)
    second = replace(second, numbers=EntryNumbers(season=2))
    names = ["Season 1/Koji - 11.mkv", "Season 1/Koji - 12.mkv", "Season 2/Koji - 13.mkv", "Season 2/Koji - 14.mkv"]
    assert episodes(plan(names, first, second)) == [(1, 1, (11,)), (1, 1, (12,)), (2, 2, (1,)), (2, 2, (2,))]


def test_a_special_of_a_show_whose_name_ends_alike_is_asked_about() -> None:
    found = plan(["[Kura] Koji - 01.mkv", "[Kura] Grand Koji - OVA.mkv", "[Kura] 酒蔵 Koji [SP].mkv"], FIRST)
    assert episodes(found)[1] is PlanReason.OTHER_SHOW
    assert found.files[2].action is FileAction.FILE


@pytest.mark.parametrize("name", ["Koji S3 - {} [1080p].mkv", "Koji/Season 3/Koji - {}.mkv"])
def test_a_later_season_that_begins_far_on_is_asked_about_where_nothing_counts_it(name: str) -> None:
    third = ShowContext(series_id=3, names=("Koji",), season=3, numbers=EntryNumbers(season=3))
    names = [name.format(number) for number in (38, 39)]
    found = plan(names, third)
    assert episodes(found) == [PlanReason.MAYBE_ABSOLUTE] * 2
    assert [(work.season, work.episodes) for work in found.files[0].candidates] == [(3, (38,))]
    assert {one for _, _, one in episodes(plan(names, replace(third, numbers=EntryNumbers(season=3, before=37))))} == {
        (1,), (2,),
    }  # fmt: skip
    long = replace(third, episodes=frozenset(range(1, 52)))
    assert episodes(plan(names, long)) == [(3, 3, (38,)), (3, 3, (39,))]
    assert episodes(plan(["Koji S03E38.mkv", "Koji S03E39.mkv"], third)) == [(3, 3, (38,)), (3, 3, (39,))]


@pytest.mark.parametrize("year", ["", " (2016)"])
def test_of_several_films_the_one_with_the_name_is_filed(year: str) -> None:
    film = ShowContext(
        series_id=4, names=("Koji Story I: Rice", "麹物語"), is_film=True, facts=NameFacts(title="Koji Story I")
    )
    names = [
        f"Koji Story (2016-2017)/[Kura] Koji Story {part}{year} [1080p].mkv" for part in ("I - Rice", "II - Water")
    ]
    first, second = plan(names, film).files
    assert (first.action, first.target) == (FileAction.FILE, "Koji Story I (2016)/Koji Story I (2016).mkv")
    assert (second.action, second.reason.code) == (FileAction.ASK, PlanReason.OTHER_SHOW)
