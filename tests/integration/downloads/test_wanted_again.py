"""An episode that was had is wanted again: because its files were deleted, or because its keeper says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.downloads.errors import DownloadConflict, EpisodeNotFound
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.feeds.preferences import Policy
from kurabito.http.errors import Unreachable

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn

KURA, TOJI = f"{1:040x}", f"{2:040x}"


def release(hash_: str, group: str = "Kura", numbers: str = "01") -> tuple[str, str]:
    return f"[{group}] Yoru no Kurabito - {numbers}", f"magnet:?xt=urn:btih:{hash_}"


async def had(core: Core, a: StandIn, *releases: tuple[str, str]) -> None:
    """Have the first of these downloaded to its end."""
    await core.register(a)
    await core.bring(*releases)
    await core.work()
    for known in list(a.has):
        a.say(known, "completed", progress=1.0)
    await core.poll()
    assert set(await core.episodes()) == {"have"}
    core.clock.advance(1)


async def test_deleting_a_download_with_its_files_gives_the_episode_back(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA))
    await core.downloads.downloads.remove(1, delete_files=True)
    await core.work()
    assert a.asked[-1].query == "delete_files=true"
    assert await core.episodes() == ["wanted"]
    # Another release may come, and is taken.
    await core.bring(release(TOJI, "Toji"))
    await core.work()
    assert await core.all("SELECT link_id, status FROM downloads ORDER BY id") == [(1, "completed"), (2, "downloading")]
    assert await core.episodes() == ["downloading"]


async def test_forgetting_a_download_keeps_its_files_and_its_episode(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA))
    await core.downloads.downloads.remove(1)
    await core.work()
    await core.bring(release(TOJI, "Toji"))
    await core.work()
    assert (await core.episodes(), len(a.added)) == (["have"], 1)


async def test_want_again_takes_the_same_release_where_there_is_no_other(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA))
    wanted = await core.downloads.wanting.want_download_again(1)
    assert [(one.link_id, one.status) for one in wanted.downloads] == [(1, "pending")]
    # Its downloader looks at the disk when it gets it again; what lies there stays.
    assert (a.asked[-1].method, a.asked[-1].query) == ("DELETE", "delete_files=false")
    await core.work()
    assert a.added == [KURA, KURA]
    assert (await core.statuses(), await core.episodes()) == (["completed", "downloading"], ["downloading"])
    with pytest.raises(DownloadConflict, match="being downloaded already"):
        await core.downloads.wanting.want_again(1)
    a.say(KURA, "completed", progress=1.0)
    await core.poll()
    assert (await core.statuses(), await core.episodes()) == (["completed", "completed"], ["have"])


async def test_want_another_release_takes_any_but_this_one(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA), release(TOJI, "Toji"))
    assert a.added == [KURA]
    wanting = core.downloads.wanting
    first = await wanting.want_download_again(1, other_release=True)
    await core.work()
    assert [one.link_id for one in first.downloads] == [2]
    assert a.added == [KURA, TOJI]
    # What the first one left is not touched.
    assert KURA in a.has
    a.say(TOJI, "completed", progress=1.0)
    await core.poll()
    await core.downloads.filters.add(FilterRule(name="no", action=Action.EXCLUDE, pattern=r"^\[Kura"))
    core.clock.advance(1)
    none = await wanting.want_download_again(2, other_release=True)
    assert (none.downloads, none.is_asked, await core.episodes()) == ((), False, ["wanted"])
    await core.bring(release("3" * 40, "Yama"))
    await core.work()
    assert a.added[-1] == "3" * 40


async def test_an_episode_of_a_batch_that_others_have_is_given_back_alone(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA, numbers="01-02"))
    wanted = await core.downloads.wanting.want_again(1)
    assert (wanted.downloads, await core.episodes()) == ((), ["wanted", "have"])
    assert KURA in a.has
    await core.bring(release(TOJI, "Toji"))
    await core.work()
    assert await core.episodes() == ["downloading", "have"]


async def test_a_keeper_who_chooses_is_asked(core: Core, a: StandIn) -> None:
    await core.subscribe(conflict_policy=Policy.ASK)
    await core.register(a)
    await core.bring(release(KURA))
    await core.work()
    a.say(KURA, "completed", progress=1.0)
    await core.poll()
    await core.bring(release(TOJI, "Toji"))
    (conflict,) = await core.downloads.conflicts.page()
    await core.downloads.conflicts.resolve(conflict.id, 1)
    core.clock.advance(1)
    assert (await core.downloads.wanting.want_again(1)).is_asked
    assert len(await core.downloads.conflicts.page()) == 1


async def test_what_cannot_be_wanted_again_says_why(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA))
    await a.stop()
    with pytest.raises(Unreachable):
        await core.downloads.wanting.want_download_again(1)
    # Asked for again when it answers, it is taken.
    await a.start()
    await core.downloads.wanting.want_download_again(1)
    await core.work()
    assert a.added == [KURA, KURA]
    with pytest.raises(EpisodeNotFound, match="99"):
        await core.downloads.wanting.want_again(99)
    with pytest.raises(DownloadConflict, match="only what is complete"):
        await core.downloads.wanting.want_download_again(2)


async def test_what_was_given_back_is_judged_by_filters_again(core: Core, a: StandIn) -> None:
    await had(core, a, release(KURA))
    draft = FilterRule(name="no", action=Action.EXCLUDE, pattern="Yoru")
    assert (await core.downloads.filters.preview(draft)).excluded == ()
    await core.downloads.downloads.remove(1, delete_files=True)
    assert [one.link_id for one in (await core.downloads.filters.preview(draft)).excluded] == [1]


async def test_the_last_download_of_a_batch_deletes_its_files_after_the_others_were_forgotten(
    core: Core, a: StandIn
) -> None:
    await had(core, a, release(KURA, numbers="01-02"))
    downloads = core.downloads.downloads
    await downloads.remove(1)
    await core.work()
    # The other one still stands for it.
    assert KURA in a.has
    await downloads.remove(2, delete_files=True)
    await core.work()
    assert a.asked[-1].query == "delete_files=true"
    assert KURA not in a.has
    # The first one has no files any more either.
    assert await core.episodes() == ["wanted", "wanted"]
