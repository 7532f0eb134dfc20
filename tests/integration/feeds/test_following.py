"""Feeds are followed: what is taken, what is left alone, and what is shown when something is wrong."""

from __future__ import annotations

import json
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.app.compose.feeds import FeedParts
from kurabito.clock import ManualClock, to_datetime
from kurabito.errors import InvalidInput
from kurabito.feeds.errors import SubscriptionConflict, SubscriptionNotFound
from kurabito.feeds.health import FeedHealth, feed_health
from kurabito.feeds.subscriptions import StartWith, Subscription, SubscriptionSettings
from kurabito.feeds.tasks import FetchResult, FetchTask
from kurabito.http.errors import HostNotAllowed
from kurabito.runtime import Registry, Worker
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.feeds.conftest import FeedSite, Kept, OpenSite

HOUR = timedelta(hours=1)


def settings_for(site: FeedSite, path: str = "/rss", **given: Any) -> SubscriptionSettings:
    return SubscriptionSettings(
        **{"name": "Kura", "url": site.url(path), "allows_private": True, "fetch_interval": HOUR, **given}
    )


async def followed(
    feeds: FeedParts, site: FeedSite, start_with: StartWith = StartWith.MISSING, **given: Any
) -> Subscription:
    return await feeds.subscriptions.create(settings_for(site, **given), start_with)


async def fetch(feeds: FeedParts, subscription: Subscription) -> FetchResult:
    return await feeds.tasks.fetch(FetchTask(subscription.id))


async def now(feeds: FeedParts, subscription: Subscription) -> Subscription:
    return await feeds.subscriptions.get(subscription.id)


async def test_a_feed_that_is_followed_is_read_at_once_and_then_when_it_is_due(
    feeds: FeedParts, site: FeedSite, kept: Kept, queue: SqlQueue, clock: ManualClock
) -> None:
    site.put(site.feed(1, 2))
    registry = Registry()
    feeds.tasks.join(registry)
    subscription = await followed(feeds, site)
    async with Worker(queue, registry):
        (task,) = await queue.list(task_type="feeds.fetch")
        assert (await queue.wait(task.id, timeout=PATIENCE)).state == "succeeded"
    assert await kept.links() == ["https://feeds.example/1.torrent", "https://feeds.example/2.torrent"]
    assert await feeds.tasks.check() == 0
    clock.advance(3601)
    assert await feeds.tasks.check() == 1
    assert await feeds.tasks.check() == 0
    assert await kept.waiting() == 1
    site.put(site.feed(2, 3))
    assert await fetch(feeds, subscription) == FetchResult(items=2, new=1)
    assert len(await kept.links()) == 3


@pytest.mark.parametrize("start_with", list(StartWith))
async def test_nothing_that_was_there_before_is_taken_by_surprise(
    feeds: FeedParts, site: FeedSite, kept: Kept, clock: ManualClock, start_with: StartWith
) -> None:
    fresh = format_datetime(to_datetime(clock.now()) + HOUR)
    site.put(
        site.feed(
            1,
            2,
            more=f"<item><title>[Kura] Yoru no Kurabito - 03</title><pubDate>{fresh}</pubDate>"
            "<link>https://feeds.example/3.torrent</link></item>",
        )
    )
    chosen = ["kura-1"] if start_with is StartWith.CHOSEN else []
    subscription = await feeds.subscriptions.create(settings_for(site), start_with, chosen)
    await fetch(feeds, subscription)
    taken = {StartWith.NOW: [3], StartWith.MISSING: [1, 2, 3], StartWith.CHOSEN: [1]}[start_with]
    assert await kept.links() == [f"https://feeds.example/{number}.torrent" for number in taken]
    assert [status for _, status, _ in await kept.items()].count("skipped") == 3 - len(taken)
    site.put(site.feed(1, 2, 4))
    await fetch(feeds, subscription)
    assert await kept.links() == [f"https://feeds.example/{number}.torrent" for number in [*taken, 4]]


async def test_a_feed_that_did_not_change_is_not_sent_again(feeds: FeedParts, site: FeedSite) -> None:
    site.put(site.feed(1), etag='"one"', last_modified="Tue, 14 Jan 2025 09:35:59 GMT", content_encoding="gzip")
    subscription = await followed(feeds, site)
    assert await fetch(feeds, subscription) == FetchResult(items=1, new=1)
    assert await fetch(feeds, subscription) == FetchResult(changed=False)
    assert "if-none-match" not in site.asked[0].headers
    assert site.asked[1].headers["if-none-match"] == '"one"'
    assert site.asked[1].headers["if-modified-since"] == "Tue, 14 Jan 2025 09:35:59 GMT"
    site.put(site.feed(1, 2), etag='"two"')
    assert await fetch(feeds, subscription) == FetchResult(items=2, new=1)


async def test_a_feed_that_breaks_off_is_taken_as_far_as_it_goes_and_asked_for_again(
    feeds: FeedParts, site: FeedSite, kept: Kept
) -> None:
    site.put(site.feed(1, 2, end="<item><title>[Kura] Yoru"), etag='"cut"')
    subscription = await followed(feeds, site)
    await fetch(feeds, subscription)
    health = (await now(feeds, subscription)).health
    assert (health.failures, health.error_code) == (0, "feed_incomplete")
    site.put(site.feed(1, 2, 3), etag='"cut"')
    await fetch(feeds, subscription)
    assert len(await kept.links()) == 3
    assert (await now(feeds, subscription)).health.error_code is None


async def test_what_a_broken_transfer_brought_is_kept(feeds: FeedParts, site: FeedSite, kept: Kept) -> None:
    site.put(site.feed(1, 2, end="<item><title>[Kura] Yoru"), etag='"cut"', content_length="100000")
    subscription = await followed(feeds, site)
    assert await fetch(feeds, subscription) == FetchResult(items=2, new=2)
    assert len(site.asked) == 2, "it is asked for again first"
    health = (await now(feeds, subscription)).health
    assert (health.failures, health.error_code) == (0, "feed_incomplete")
    site.put(site.feed(1, 2, 3), etag='"cut"')
    assert await fetch(feeds, subscription) == FetchResult(items=3, new=1)
    assert len(await kept.links()) == 3
    assert (await now(feeds, subscription)).health.error_code is None


@pytest.mark.parametrize("body", [b"", b"<?xm", b"<rss><channel><title>Kura</title><item><title>[Kura]"])
async def test_a_transfer_that_breaks_before_the_first_item_failed(
    feeds: FeedParts, site: FeedSite, body: bytes
) -> None:
    site.put(body, content_length="100000")
    subscription = await followed(feeds, site)
    with pytest.raises(PermanentError, match=r"^unreachable: the connection to .* broke"):
        await fetch(feeds, subscription)
    assert (await now(feeds, subscription)).health.failures == 1


async def test_what_a_first_reading_cut_off_does_not_pass_for_new(feeds: FeedParts, site: FeedSite, kept: Kept) -> None:
    site.put(site.feed(1, end=""))
    subscription = await followed(feeds, site, StartWith.NOW)
    with pytest.raises(PermanentError, match="breaks off"):
        await fetch(feeds, subscription)
    site.put(site.feed(1, 2))
    await fetch(feeds, subscription)
    assert await kept.links() == []


async def test_an_error_is_shown_backs_off_and_is_cleared_by_the_next_success(
    feeds: FeedParts, site: FeedSite, clock: ManualClock
) -> None:
    subscription = await followed(feeds, site)
    for failures, (status, body, code) in enumerate(
        [
            ("404 Not Found", b"", "bad_status"),
            ("500 Oops", b"", "bad_status"),
            ("200 OK", b"<html>log in</html>", "feed_unreadable"),
            ("200 OK", b'<error code="100" description="wrong key"/>', "feed_unreadable"),
        ],
        1,
    ):
        site.put(body, status=status)
        with pytest.raises(PermanentError):
            await fetch(feeds, subscription)
        health = (await now(feeds, subscription)).health
        assert (health.failures, health.error_code) == (failures, code)
        assert health.next_fetch_at == to_datetime(clock.now()) + min(HOUR * 2**failures, timedelta(days=1))
    assert "wrong key" in ((await now(feeds, subscription)).health.error_message or "")
    site.put(site.feed(1))
    await fetch(feeds, subscription)
    health = (await now(feeds, subscription)).health
    assert (health.failures, health.error_code, health.error_message) == (0, None, None)
    assert health.next_fetch_at == to_datetime(clock.now()) + HOUR


async def test_a_fetch_by_hand_does_not_lengthen_the_back_off(
    feeds: FeedParts, site: FeedSite, clock: ManualClock
) -> None:
    subscription = await followed(feeds, site)
    site.put(status="404 Not Found")
    with pytest.raises(PermanentError):
        await fetch(feeds, subscription)
    planned = (await now(feeds, subscription)).health.next_fetch_at
    for _ in range(3):
        clock.advance(60)
        with pytest.raises(PermanentError):
            await feeds.tasks.fetch(FetchTask(subscription.id, by_hand=True))
    health = (await now(feeds, subscription)).health
    assert (health.failures, health.next_fetch_at) == (1, planned)
    assert health.last_fetched_at == to_datetime(clock.now())
    site.put(site.feed(1))
    await feeds.tasks.fetch(FetchTask(subscription.id, by_hand=True))
    health = (await now(feeds, subscription)).health
    assert (health.failures, health.error_code) == (0, None)
    assert health.next_fetch_at == to_datetime(clock.now()) + HOUR


async def test_a_fetch_by_hand_that_fails_first_is_shown_and_counts_for_nothing(
    feeds: FeedParts, site: FeedSite, clock: ManualClock
) -> None:
    site.put(site.feed(1))
    subscription = await followed(feeds, site)
    await fetch(feeds, subscription)
    clock.advance(60)
    site.put(status="429 Too Many Requests", retry_after="20000")
    with pytest.raises(PermanentError):
        await feeds.tasks.fetch(FetchTask(subscription.id, by_hand=True))
    after = await now(feeds, subscription)
    assert (after.health.failures, after.health.error_code) == (0, "bad_status")
    assert feed_health(after) is FeedHealth.FAILING
    assert after.health.next_fetch_at == to_datetime(clock.now()) + timedelta(seconds=20_000), "the host's own wish"


async def test_a_host_that_wants_to_be_asked_later_is_asked_later(
    feeds: FeedParts, site: FeedSite, clock: ManualClock
) -> None:
    site.put(status="429 Too Many Requests", retry_after="20000")
    subscription = await followed(feeds, site)
    with pytest.raises(PermanentError, match="429"):
        await fetch(feeds, subscription)
    assert len(site.asked) == 1
    planned = (await now(feeds, subscription)).health.next_fetch_at
    assert planned == to_datetime(clock.now()) + timedelta(seconds=20_000)


async def test_a_private_host_is_refused_until_its_user_allows_it_for_this_feed(
    feeds: FeedParts, site: FeedSite, open_site: OpenSite, kept: Kept
) -> None:
    site.put(site.feed(1))
    subscription = await followed(feeds, site, allows_private=False)
    with pytest.raises(PermanentError, match=r"127\.0\.0\.1 is a loopback address; .* allow the host"):
        await fetch(feeds, subscription)
    assert site.asked == []
    assert (await now(feeds, subscription)).health.error_code == "host_not_allowed"
    with pytest.raises(HostNotAllowed):
        await feeds.previews.look(site.url())
    allowed = await feeds.subscriptions.change(subscription.id, {"allows_private": True})
    assert allowed.health.error_code is None
    await fetch(feeds, subscription)
    assert len(await kept.links()) == 1
    elsewhere = await open_site()
    moved = await feeds.subscriptions.change(subscription.id, {"url": elsewhere.url()})
    assert not moved.settings.allows_private


async def test_a_feed_that_moved_is_followed_and_keeps_its_url(
    feeds: FeedParts, site: FeedSite, open_site: OpenSite, kept: Kept
) -> None:
    site.put(status="301 Moved Permanently", location="/new/rss")
    site.put(b"<rss><channel><item><title>Yoru - 01</title><link>1.torrent</link></item></channel></rss>", "/new/rss")
    subscription = await followed(feeds, site)
    await fetch(feeds, subscription)
    assert await kept.links() == [site.url("/new/1.torrent")]
    assert (await now(feeds, subscription)).settings.url == site.url()
    secret = await open_site()
    secret.put(site.feed(9))
    site.put(status="302 Found", location=secret.url().replace("127.0.0.1", "localhost"))
    with pytest.raises(PermanentError, match="host_not_allowed"):
        await fetch(feeds, subscription)
    assert secret.asked == []


async def test_a_paused_feed_is_left_alone_unless_somebody_asks(
    feeds: FeedParts, site: FeedSite, kept: Kept, clock: ManualClock
) -> None:
    site.put(site.feed(1))
    subscription = await followed(feeds, site, is_enabled=False)
    clock.advance(10 * 3600)
    assert (await feeds.tasks.check(), await kept.waiting()) == (0, 0)
    task = await feeds.subscriptions.fetch_now(subscription.id)
    assert (await feeds.subscriptions.fetch_now(subscription.id)).id == task.id
    assert json.loads(task.payload) == {"subscription_id": subscription.id, "by_hand": True}
    await feeds.subscriptions.change(subscription.id, {"is_enabled": True})
    assert await feeds.tasks.check() == 1
    assert await kept.waiting() == 1


async def test_a_feed_that_is_let_go_takes_its_fetch_and_items_along_and_leaves_its_links(
    feeds: FeedParts, site: FeedSite, kept: Kept
) -> None:
    site.put(site.feed(1))
    subscription = await followed(feeds, site)
    await fetch(feeds, subscription)
    await feeds.subscriptions.remove(subscription.id)
    assert (await kept.items(), await kept.waiting()) == ([], 0)
    assert len(await kept.links()) == 1
    with pytest.raises(SubscriptionNotFound):
        await now(feeds, subscription)
    with pytest.raises(PermanentError, match="no subscription"):
        await fetch(feeds, subscription)


async def test_what_cannot_be_followed_is_refused_with_its_field(feeds: FeedParts, site: FeedSite) -> None:
    first = await followed(feeds, site)
    second = await followed(feeds, site, path="/other")
    with pytest.raises(SubscriptionConflict, match="url: another subscription"):
        await followed(feeds, site)
    with pytest.raises(SubscriptionConflict):
        await feeds.subscriptions.change(second.id, {"url": site.url()})
    assert (await now(feeds, first)).settings == settings_for(site)
    wrong: dict[str, Any] = {
        "url": "ftp://feeds.example/rss",
        "name": " ",
        "fetch_interval": timedelta(seconds=1),
        "series_id": 99,
        "module_id": 99,
    }
    for field, value in wrong.items():
        with pytest.raises(InvalidInput, match=f"^{field}:"):
            await followed(feeds, site, **{"path": "/third"} | {field: value})
        with pytest.raises(InvalidInput, match=f"^{field}:"):
            await feeds.subscriptions.change(second.id, {field: value})
    with pytest.raises(InvalidInput, match=r"^chosen:"):
        await feeds.subscriptions.create(settings_for(site, "/third"), StartWith.NOW, ["kura-1"])
    assert [one.id for one in await feeds.subscriptions.page()] == [first.id, second.id]


async def test_a_preview_says_what_each_item_is_and_stores_nothing(
    feeds: FeedParts, site: FeedSite, kept: Kept
) -> None:
    more = "<item><title>[Kura] Yoru no Kurabito [1080p]</title><link>magnet:?xt=urn:btih:aa</link></item><item/>"
    site.put(site.feed(1, more=more + "<item><title>Yoru</title></item>"))
    feed, offers = await feeds.previews.look(site.url(), allows_private=True)
    assert (feed.title, [one.number for one in feed.refused]) == ("Kura", [3])
    assert [(one.key, one.reason) for one in offers] == [
        ("kura-1", None),
        ("magnet:?xt=urn:btih:aa", "no_episode"),
    ]
    assert offers[0].release is not None
    assert (offers[0].release.names[0].shown, offers[0].release.episodes) == ("Yoru no Kurabito", (1,))
    assert [offer.release.download_type for offer in offers if offer.release] == ["torrent", "magnet"]
    assert await kept.items() == []
