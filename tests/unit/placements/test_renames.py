"""What another naming would rename, before anything is touched."""

from __future__ import annotations

from dataclasses import replace

from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.naming.renames import FiledFile, Rename, plan_renames
from kurabito.placements.naming.sidecars import TrackTag
from kurabito.placements.naming.tokens import NameFacts

KOJI = NameFacts(title="Koji", year=2020, season=1, episode=(1,), original="Koji - 01")
JELLYFIN = PRESETS[Preset.JELLYFIN]


def test_every_file_gets_the_name_of_the_new_template() -> None:
    files = [
        FiledFile("Koji/Koji - 01.mkv", KOJI),
        FiledFile("Koji/Koji - 01.sc.ass", KOJI, tag=TrackTag(("zh-Hans",))),
        FiledFile("Koji (2020)/Season 01/Koji S01E02.mkv", KOJI._replace(episode=(2,))),
        FiledFile("Sake.mkv", NameFacts(title="Sake", year=1952), is_film=True),
        FiledFile("Anime/Rice/Rice 01.mkv", KOJI._replace(title="Rice"), folder="Anime/Rice"),
    ]
    found = plan_renames(files, JELLYFIN)
    assert found.renames == (
        Rename("Koji/Koji - 01.mkv", "Koji (2020)/Season 01/Koji S01E01.mkv"),
        Rename("Koji/Koji - 01.sc.ass", "Koji (2020)/Season 01/Koji S01E01.zh-Hans.ass"),
        Rename("Sake.mkv", "Sake (1952)/Sake (1952).mkv"),
        Rename("Anime/Rice/Rice 01.mkv", "Anime/Rice/Season 01/Rice S01E01.mkv"),
    )
    assert (found.unchanged, found.unknown, found.twins) == (1, (), ())


def test_files_that_would_share_a_name_or_have_none_keep_theirs() -> None:
    twins = [FiledFile("a.mkv", KOJI), FiledFile("b.MKV", KOJI._replace(title="KOJI"))]
    assert plan_renames(twins, PRESETS[Preset.FLAT]).twins == ("a.mkv", "b.MKV")
    unknown = plan_renames([FiledFile("a.mkv", KOJI)], replace(JELLYFIN, episode_file="{episode_title} {episode}"))
    assert (unknown.renames, unknown.unknown) == ((), (("a.mkv", "episode_title"),))
