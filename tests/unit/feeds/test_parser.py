"""Feeds as sites really write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.feeds.errors import FeedUnreadable
from kurabito.feeds.parser import MOST_ITEMS, Feed, parse_feed

URL = "https://feeds.example/shows/rss?user=1"


def rss(*items: str, head: str = "<title>Kura</title>", end: str = "</channel></rss>") -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>{head}{"".join(items)}{end}'


def item(number: int = 1, more: str = "") -> str:
    return (
        f"<item><title>[Kura] Yoru - {number:02}</title>"
        f'<enclosure url="https://feeds.example/{number}.torrent" type="application/x-bittorrent"/>{more}</item>'
    )


def parsed(text: str | bytes, content_type: str = "") -> Feed:
    return parse_feed(text if isinstance(text, bytes) else text.encode(), URL, content_type)


def titles(feed: Feed) -> list[str]:
    return [one.title for one in feed.items]


def test_an_item_of_rss_says_everything() -> None:
    feed = parsed(
        rss(
            "<item><title><![CDATA[ [Kura] Yoru & Asa - 01\n [1080p] ]]></title>"
            "<link>https://feeds.example/view/1</link><guid isPermaLink='false'>kura-1</guid>"
            "<pubDate>Tue, 14 Jan 2025 09:35:59 -0800</pubDate>"
            "<description>First<br />of twelve</description>"
            "<enclosure url='/dl/1.torrent?a=1&amp;b=2' length='409259200' type='application/x-bittorrent'/></item>"
        )
    )
    assert feed.title == "Kura"
    assert feed.is_whole
    (one,) = feed.items
    assert one.title == "[Kura] Yoru & Asa - 01 [1080p]"
    assert one.download_url == "https://feeds.example/dl/1.torrent?a=1&b=2"
    assert one.pub_date == datetime(2025, 1, 14, 17, 35, 59, tzinfo=UTC)
    assert (one.size_bytes, one.guid, one.description) == (409259200, "kura-1", "Firstof twelve")


def test_an_entry_of_atom_says_the_same() -> None:
    feed = parsed(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://cdn.example/files/'><title>Kura</title>"
        "<entry><title type='html'>Yoru &amp;amp; Asa - 02</title><id>urn:kura:2</id>"
        "<link rel='alternate' href='https://feeds.example/view/2'/>"
        "<link rel='enclosure' type='application/x-bittorrent' href='2.torrent'/>"
        "<updated>2025-01-15T01:00:00+09:00</updated><summary>Second</summary></entry></feed>"
    )
    (one,) = feed.items
    assert one.download_url == "https://cdn.example/files/2.torrent"
    assert one.pub_date == datetime(2025, 1, 14, 16, tzinfo=UTC)
    assert (one.guid, one.description) == ("urn:kura:2", "Second")


def test_an_item_of_torznab_has_its_attributes() -> None:
    attributes = {"size": "316477946", "infohash": "2d" * 20, "magneturl": "magnet:?xt=urn:btih:" + "2D" * 20}
    written = "".join(f'<torznab:attr name="{name}" value="{value}"/>' for name, value in attributes.items())
    feed = parsed(rss(f"<item><title>Yoru - 03</title><link>https://feeds.example/view/3</link>{written}</item>"))
    (one,) = feed.items
    assert one.download_url == attributes["magneturl"]
    assert (one.size_bytes, one.info_hash) == (316477946, "2d" * 20)


def test_dates_of_mikan_mean_the_time_of_china_and_other_dates_without_a_zone_utc() -> None:
    mikan = "<torrent xmlns='https://mikanani.me/0.1/'><contentLength>409259200</contentLength><pubDate>2023-01-24T21:02:56.558766</pubDate></torrent>"
    feed = parsed(
        rss(
            item(1, mikan),
            item(2, "<pubDate>2023-01-24T21:02:56</pubDate>"),
            item(3, "<pubDate>Tue, 24 Aug 2021 22:18:46 -0000</pubDate>"),
            item(4, "<pubDate>yesterday</pubDate>"),
            item(5, "<pubDate>0001-01-01T00:00:00+14:00</pubDate>"),
        )
    )
    assert [one.pub_date for one in feed.items] == [
        datetime(2023, 1, 24, 13, 2, 56, 558766, tzinfo=UTC),
        datetime(2023, 1, 24, 21, 2, 56, tzinfo=UTC),
        datetime(2021, 8, 24, 22, 18, 46, tzinfo=UTC),
        None,
        None,
    ]
    assert feed.items[0].size_bytes == 409259200


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("<link>magnet:?xt=urn:btih:AA&amp;tr=udp://t</link>", "magnet:?xt=urn:btih:AA&tr=udp://t"),
        ("<link>https://x.example/?id=1&key=2&copy=3</link>", "https://x.example/?id=1&key=2&copy=3"),
        ("<link>https://x.example/view/1</link><description>&lt;a href=&quot;magnet:?xt=urn:btih:BB&amp;amp;dn=a&quot;&gt;get</description>", "magnet:?xt=urn:btih:BB&dn=a"),
        ("<link>https://x.example/view/1</link><description><![CDATA[magnet:?xt=urn:btih:CC]]></description>", "magnet:?xt=urn:btih:CC"),
        ("<link>https://x.example/a.torrent?pass=x</link><description>magnet:?xt=urn:btih:DD</description>", "https://x.example/a.torrent?pass=x"),
        ("<enclosure url='https://x.example/p.png' type='image/png'/><enclosure url='https://x.example/b.torrent'/>", "https://x.example/b.torrent"),
        ("<enclosure url=''/><link>//cdn.example/c.mkv</link>", "https://cdn.example/c.mkv"),
        ("<link>HTTPS://x.example/E.torrent</link>", "https://x.example/E.torrent"),
        ("<link>Magnet:?xt=urn:btih:EE</link>", "magnet:?xt=urn:btih:EE"),
        ("<guid isPermaLink='true'>https://x.example/d</guid>", "https://x.example/d"),
    ],
)  # fmt: skip
def test_the_best_way_to_the_release_is_taken(written: str, url: str) -> None:
    assert [one.download_url for one in parsed(rss(f"<item><title>Yoru</title>{written}</item>")).items] == [url]


@pytest.mark.parametrize(
    ("size", "expected"),
    [("609.6 MiB", 639211930), ("1,5 GB", 1610612736), ("1", None), ("0", None), ("12345", 12345), ("large", None)],
)
def test_sizes_are_read_as_sites_write_them(size: str, expected: int | None) -> None:
    (one,) = parsed(rss(item(1, f"<nyaa:size>{size}</nyaa:size>"))).items
    assert one.size_bytes == expected


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Size: 1.2 GB", round(1.2 * 1024**3)),
        ("&lt;b&gt;Size:&lt;/b&gt; 563.9 MiB&lt;br/&gt;Seeders: 12", round(563.9 * 1024**2)),
        ("<![CDATA[<p>Category: Anime</p><p>Size: <strong>700 MB</strong></p>]]>", 700 * 1024**2),
        ("<![CDATA[文件大小\uff1a1.5GB | 做种: 3]]>", round(1.5 * 1024**3)),
        ("File size 1,234.5 MB", round(1234.5 * 1024**2)),
        ("Size: 1,234 MB", 1234 * 1024**2),
        ("Size: 409259200 bytes", 409259200),
        ("Size: 12", None),
        ("Font size: 12 pt, 3 files", None),
        ("Size: unknown", None),
        ("resized 4 GB of them", None),
        ("Size: 0 MB", None),
    ],
)
def test_a_size_is_read_from_the_description_where_nothing_else_says_it(description: str, expected: int | None) -> None:
    (one,) = parsed(rss(item(1, f"<description>{description}</description>"))).items
    assert one.size_bytes == expected


def test_a_size_of_its_own_counts_more_than_the_description() -> None:
    (one,) = parsed(rss(item(1, "<description>Size: 1 GB</description><nyaa:size>2 GiB</nyaa:size>"))).items
    assert one.size_bytes == 2 * 1024**3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("<item><link>https://x.example/1</link></item>", "no title"),
        ("<item><title>Yoru</title></item>", "nothing that could be downloaded"),
        ("<item><title>Yoru</title><link>file:///etc/passwd</link></item>", "neither http"),
        ("<item><title>Yoru</title><link>javascript:alert(1)</link></item>", "neither http"),
        ("<item><title>Yoru</title><link>https://[broken/1</link></item>", "neither http"),
        ("<item><title>Yoru</tite><link>https://x.example/1</link></item>", "not well-formed"),
        ("<item><title>Yoru</title><description><![CDATA[no end</description></item>", "not well-formed"),
        ("<item><title>Yoru</title>", "no end"),
        (f"<item><title>{'Yoru ' * 300_000}</title></item>", "larger than"),
    ],
)
def test_a_bad_item_is_named_and_takes_no_other_with_it(bad: str, reason: str) -> None:
    feed = parsed(rss(item(1), bad, item(2)))
    assert titles(feed) == ["[Kura] Yoru - 01", "[Kura] Yoru - 02"]
    assert [one.number for one in feed.refused] == [2]
    assert reason in feed.refused[0].reason


@pytest.mark.parametrize(
    "text",
    ["<p>one<br>two & three<img src=x>", "I <3 this", "a&nbsp;&hearts; b &unknown; c", "bell \x07 and \x00 nul", "&#0;&#xB;&#xD800;"],
)  # fmt: skip
def test_what_is_no_xml_inside_a_text_is_taken_as_text(text: str) -> None:
    feed = parsed(rss(item(1, f"<description>{text}</description>"), item(2)))
    assert titles(feed) == ["[Kura] Yoru - 01", "[Kura] Yoru - 02"]
    assert not feed.refused


@pytest.mark.parametrize("cut", [-9, -30, -60, -90])
def test_a_feed_that_breaks_off_gives_what_came_before_and_says_so(cut: int) -> None:
    feed = parsed(rss(*(item(number) for number in (1, 2, 3)), end="")[:cut])
    assert titles(feed) == ["[Kura] Yoru - 01", "[Kura] Yoru - 02"]
    assert not feed.is_whole
    assert not feed.refused


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").encode("gb18030"), ""),
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").replace('"utf-8"', '"Shift_JIS"').encode("shift_jis"), ""),
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").encode("euc_jp"), "text/xml; charset=EUC-JP"),
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").replace('"utf-8"', '"gb2312"').encode(), "text/xml; charset=big5"),
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").encode("utf-16"), ""),
        (b"\xef\xbb\xbf\r\n " + rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").encode(), ""),
        (rss("<item><title>夜の蔵</title><link>https://x.example/1</link></item>").replace('"utf-8"', '"no-such"').encode(), ""),
    ],
    ids=["gb-says-utf8", "sjis", "euc-by-header", "utf8-says-gb", "utf16", "bom", "unknown"],
)  # fmt: skip
def test_a_feed_is_read_whatever_it_says_of_its_encoding(data: bytes, content_type: str) -> None:
    assert titles(parsed(data, content_type=content_type)) == ["夜の蔵"]


def test_a_bad_byte_does_not_spoil_the_others() -> None:
    data = rss(
        item(1), "<item><title>夜の蔵と朝の蔵</title><link>https://x.example/1</link></item>", "<!-- \x07 -->"
    ).encode()
    feed = parsed(data.replace(b"\x07", b"\xff"))
    assert titles(feed)[1] == "夜の蔵と朝の蔵"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("not found", "begins with 'not found'"),
        ('{"items": []}', "neither RSS nor Atom"),
        ("<!DOCTYPE html><html><body>log in</body></html>", "web page"),
        ("<html><head/></html>", "web page"),
        ('<?xml version="1.0"?><error code="100" description="Incorrect user &amp; key"/>', "error 100: Incorrect user & key"),
        ("<opml version='1.0'><body/></opml>", "neither RSS nor Atom"),
    ],
)  # fmt: skip
def test_what_is_no_feed_is_called_what_it_is(text: str, message: str) -> None:
    with pytest.raises(FeedUnreadable, match=message):
        parsed(text)


def test_entities_are_never_expanded() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
    feed = parsed(bomb + rss("<item><title>Yoru &b; &x;</title><link>https://x.example/1</link></item>").split("?>")[1])
    assert titles(feed) == ["Yoru &b; &x;"]
    inside = parsed(rss(f"<item>{bomb}<title>Yoru</title><link>https://x.example/1</link></item>", item(2)))
    assert titles(inside) == ["[Kura] Yoru - 02"]


def test_the_same_item_twice_is_one() -> None:
    assert [one.guid for one in parsed(rss(item(1, "<guid>same</guid>"), item(1, "<guid>same</guid>"))).items] == [
        "same"
    ]


def test_an_id_that_tells_nothing_apart_is_none() -> None:
    feed = parsed(
        rss(item(1, "<guid>same</guid>"), item(2, "<guid>same</guid>"), item(3, "<guid>[Kura] Yoru -\n 03</guid>"))
    )
    assert [one.guid for one in feed.items] == [None, None, None]


def test_an_empty_feed_has_no_items_and_a_huge_one_only_so_many() -> None:
    assert parsed(rss()) == Feed("Kura", ())
    assert len(parsed(rss(*(item(number) for number in range(MOST_ITEMS + 10)))).items) == MOST_ITEMS


@pytest.mark.parametrize(
    "text",
    [
        "<item " * 300_000,
        "<item><title>" * 100_000,
        "<item>" + "<title>" * 100_000 + "</item>",
        "<![CDATA[" * 100_000,
        "<item>" + "&" * 500_000 + "</item>",
        "<item>" + "<a>" * 200_000 + "</item>",
        "<item>" + "magnet:?" * 100_000 + "</item>",
        "<!--" * 200_000,
        "<item>" + "<![CDATA[" * 100_000 + "</item>",
    ],
    ids=range(9),
)
@pytest.mark.timeout(20)
def test_a_hostile_feed_takes_no_time(text: str) -> None:
    assert parsed(rss(text)).items == ()


@given(st.binary(max_size=300))
def test_any_bytes_inside_a_feed_are_survived(data: bytes) -> None:
    parse_feed(rss().encode().replace(b"<title>", data), URL)


@given(st.integers(0, 2_000), st.binary(min_size=1, max_size=8))
def test_damage_in_one_place_loses_two_items_at_most(place: int, damage: bytes) -> None:
    data = rss(*(item(number) for number in range(12))).encode()
    place = 100 + place % (len(data) - 200)
    feed = parse_feed(data[:place] + damage + data[place + len(damage) :], URL)
    assert len(feed.items) + len(feed.refused) >= 10


def test_a_base_that_is_no_address_is_passed_over() -> None:
    feed = parsed(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://[nothing'><title>Kura</title>"
        "<entry><title>Yoru - 02</title><id>2</id><link rel='enclosure' href='https://feeds.example/2.torrent'/></entry></feed>"
    )
    assert [item.download_url for item in feed.items] == ["https://feeds.example/2.torrent"]
