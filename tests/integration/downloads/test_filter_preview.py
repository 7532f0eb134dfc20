"""What a preview says is exactly what saving does, whatever the releases, rules and preferences."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.downloads.conftest import TLS, Core

from kurabito.api.downloads.filters import FilterPreviewAnswer
from kurabito.app.compose.downloads import open_downloads
from kurabito.app.compose.feeds import open_feeds
from kurabito.clock import ManualClock
from kurabito.downloads import store
from kurabito.downloads.errors import DownloadConflict
from kurabito.downloads.filters.model import Action, Fields, FilterRule, RuleScope, Target
from kurabito.feeds.preferences import Policy, Preferences
from kurabito.http import Outbound
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings
from kurabito.web.downloads.filter_outcomes import PreviewOutcome

EXAMPLES = int(os.environ.get("KURABITO_PREVIEW_EXAMPLES", "60"))
GROUPS = ("Kura", "Toji", "Yoru")
SERIES = ("Yoru no Kurabito", "Asa no Kurabito")
STATUSES = ("completed", "failed", "cancelled", "no_downloader", "downloading", "downloader_error")

subscription_settings = st.fixed_dictionaries(
    {
        "conflict_policy": st.sampled_from(Policy),
        "upgrade": st.booleans(),
        "wait_minutes": st.sampled_from([0, 0, 30]),
        "preferences": st.builds(
            Preferences,
            groups=st.lists(st.sampled_from(GROUPS), max_size=2, unique=True).map(tuple),
            resolutions=st.sampled_from([(), (720,), (1080, 720)]),
        ),
    }
)


@dataclass(frozen=True)
class Release:
    """A release of one episode, or of two."""

    feed: int
    series: str
    first: int
    last: int
    group: str
    version: int
    resolution: int

    @property
    def title(self) -> str:
        numbers = f"{self.first:02}" if self.first == self.last else f"{self.first:02}-{self.last:02}"
        version = f"v{self.version}" if self.version > 1 else ""
        return f"[{self.group}] {self.series} - {numbers}{version} [{self.resolution}p]"


releases = st.builds(
    lambda feed, series, first, more, group, version, resolution: Release(
        feed, series, first, first + more, group, version, resolution
    ),
    st.integers(0, 1),
    st.sampled_from(SERIES),
    st.integers(1, 2),
    st.sampled_from([0, 0, 0, 1]),
    st.sampled_from(GROUPS),
    st.sampled_from([1, 1, 2, 3]),
    st.sampled_from([480, 720, 1080]),
)
scopes = st.sampled_from(
    [
        RuleScope(Target.GLOBAL),
        RuleScope(Target.GLOBAL),
        *(RuleScope(kind, number) for kind in (Target.SERIES, Target.GROUP, Target.SUBSCRIPTION) for number in (1, 2)),
        RuleScope(Target.FETCHER),
    ]
)
tests_of_rules = st.one_of(
    st.sampled_from(["v2", "v[0-9]", "720p", "Kura\\]", "- 01", "1080p|480p", "Yoru", "-02"]).map(
        lambda pattern: {"pattern": pattern}
    ),
    st.sampled_from(GROUPS).map(lambda group: {"fields": Fields(groups=(group,))}),
    st.sampled_from([480, 720, 1080]).map(lambda height: {"fields": Fields(resolutions=(height,))}),
)
rules = st.builds(
    lambda action, scope, order, enabled, tests: FilterRule(
        name="a rule", action=action, scope=scope, rule_order=order, is_enabled=enabled, **tests
    ),
    # An include that fits nothing leaves nothing to choose from, so most rules exclude.
    st.sampled_from([Action.EXCLUDE, Action.EXCLUDE, Action.INCLUDE]),
    scopes,
    st.integers(0, 2),
    st.sampled_from([True, True, True, False]),
    tests_of_rules,
)
steps = st.one_of(
    st.tuples(st.just("bring"), st.lists(releases, min_size=1, max_size=4)),
    st.tuples(st.just("say"), st.tuples(st.integers(0, 20), st.sampled_from(STATUSES))),
    st.tuples(st.just("give back"), st.integers(0, 20)),
    st.tuples(st.just("want again"), st.integers(0, 20)),
    st.tuples(st.just("add"), rules),
    st.tuples(st.just("change"), st.tuples(st.integers(0, 3), rules)),
    st.tuples(st.just("switch"), st.integers(0, 3)),
    st.tuples(st.just("remove"), st.integers(0, 3)),
)


@dataclass(frozen=True)
class Seen:
    """What the tables say."""

    filtered: dict[int, bool]
    downloads: dict[int, tuple[int, str]]
    """Link and status, by id."""
    open_conflicts: dict[int, str]
    """By episode."""


class World:
    """A core and what its keeper does to it."""

    def __init__(self, core: Core, feeds: Sequence[int]) -> None:
        self.core = core
        self.feeds = feeds

    async def do(self, what: str, how: Any) -> None:
        filters = self.core.downloads.filters
        known = await filters.everything()
        match what:
            case "bring":
                for feed in {release.feed for release in how}:
                    items = [(one.title, _url(one)) for one in how if one.feed == feed]
                    await self.core.bring(*items, subscription_id=self.feeds[feed])
            case "say":
                await self._say(*how)
            case "give back" | "want again":
                await self._give_back(how, wants=what == "want again")
            case "add":
                await self._check(how, None)
            case "change" | "switch" | "remove" if known:
                place, rule = how if what == "change" else (how, None)
                old = known[place % len(known)]
                if what == "switch":
                    rule = replace(old, is_enabled=not old.is_enabled)
                await self._check(rule, old.id)

    async def _say(self, place: int, status: str) -> None:
        """A downloader took a download, or it ended."""
        known = await self.core.all("SELECT id FROM downloads WHERE status = 'pending' ORDER BY id")
        if known:
            download_id = known[place % len(known)][0]
            await self.core.run("UPDATE downloads SET status = :status WHERE id = :id", status=status, id=download_id)

            await self.core.queue.database.write(lambda conn: store.restate_episodes(conn, [download_id]))

    async def _give_back(self, place: int, *, wants: bool) -> None:
        """The keeper deletes what is complete, or wants it again."""
        known = await self.core.all(
            "SELECT id FROM downloads WHERE status = 'completed' AND forgotten_at IS NULL ORDER BY id"
        )
        if not known:
            return
        download_id = known[place % len(known)][0]
        if not wants:
            await self.core.downloads.downloads.remove(download_id, delete_files=True)
            return
        with suppress(DownloadConflict):
            await self.core.downloads.wanting.want_download_again(download_id)

    async def _check(self, rule: FilterRule | None, rule_id: int | None) -> None:
        filters = self.core.downloads.filters
        effect = await filters.preview(rule, rule_id)
        before = await self.look()
        match rule, rule_id:
            case FilterRule(), None:
                await filters.add(rule)
            case FilterRule(), int():
                await filters.change(rule_id, rule)
            case None, int():
                await filters.remove(rule_id)
        after = await self.look()
        excluded = {link for link, is_filtered in after.filtered.items() if is_filtered and not before.filtered[link]}
        freed = {link for link, is_filtered in after.filtered.items() if not is_filtered and before.filtered[link]}
        cancelled = {
            one
            for one, (_, status) in after.downloads.items()
            if status == "cancelled" and before.downloads.get(one, (0, ""))[1] != "cancelled"
        }
        begun = {
            link
            for one, (link, status) in after.downloads.items()
            if status == "pending" and before.downloads.get(one, (0, ""))[1] != "pending"
        }
        opened = {
            episode: status for episode, status in after.open_conflicts.items() if episode not in before.open_conflicts
        }
        said = FilterPreviewAnswer.of(effect)
        assert {one.link_id for one in effect.excluded} == excluded
        assert {one.id for one in effect.freed} == freed
        assert {one.link_id for one in said.newly_excluded} == excluded
        assert (said.excluded_count, said.freed_count) == (len(excluded), len(freed))
        assert {
            *(one.download_id for one in said.newly_excluded if one.download_id is not None),
            *(one.download_id for one in said.replaced),
        } == cancelled
        assert said.cancelled_count == len(cancelled)
        assert {one.link_id for one in said.newly_dispatched if one.is_dispatched} == begun
        assert said.dispatched_count == len(begun)
        assert dict.fromkeys(said.asked, "asked") | dict.fromkeys(said.waiting, "waiting") == opened
        assert said.asked_count + said.waiting_count == len(opened)
        page = PreviewOutcome.of(effect)
        assert (page.left_out, page.cancelled, page.downloaded) == (len(excluded), len(cancelled), len(begun))
        assert (page.asked, page.waiting) == (said.asked_count, said.waiting_count)
        assert page.is_nothing == (not (excluded or freed or cancelled or begun or opened))

    async def look(self) -> Seen:
        all_of = self.core.all
        return Seen(
            {link: bool(is_filtered) for link, is_filtered in await all_of("SELECT id, is_filtered FROM anime_links")},
            {one: (link, status) for one, link, status in await all_of("SELECT id, link_id, status FROM downloads")},
            {
                episode: status
                for episode, status in await all_of("SELECT episode_id, status FROM conflicts")
                if status != "resolved"
            },
        )


def _url(release: Release) -> str:
    return f"magnet:?xt=urn:btih:{hashlib.sha1(repr(release).encode()).hexdigest()}"


async def _live(template: Path, folder: Path, of_feeds: Sequence[dict[str, Any]], life: Sequence[Any]) -> None:
    shutil.copyfile(template, folder / "kurabito.db")
    chosen = Settings(state=folder, download_root=Path("/downloads"))
    async with (
        open_queue(f"sqlite:///{folder / 'kurabito.db'}", clock=ManualClock()) as queue,
        Outbound(tls=TLS) as outbound,
    ):
        assert isinstance(queue, SqlQueue)
        downloads = open_downloads(queue, outbound, chosen)
        feeds = open_feeds(queue, outbound, grabber=downloads.grabber, pace=0.0)
        core = Core(queue, ManualClock(), feeds, downloads)
        world = World(core, [await core.subscribe(**how) for how in of_feeds])
        for what, how in life:
            await world.do(what, how)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    of_feeds=st.lists(subscription_settings, min_size=2, max_size=2),
    first=st.lists(releases, min_size=3, max_size=10),
    life=st.lists(steps, min_size=3, max_size=12),
)
def test_saving_does_what_the_preview_said(
    sqlite_template: Path, of_feeds: list[dict[str, Any]], first: list[Release], life: list[tuple[str, Any]]
) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(_live(sqlite_template, Path(folder), of_feeds, [("bring", first), *life]))
