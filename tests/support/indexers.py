"""Indexers on a server of the test's own, in the wire formats of Prowlarr, Jackett and sites."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

KEY = "0123456789abcdef0123456789abcdef"
HASH = "e8ca5e20eca876339f41c3d9e95ea66c1d7caaee"
HASH_32 = "5DFF4IHMVB3DHH2BYPM6SXVGNQOXZKXO"

Respond = Callable[[str, dict[str, str]], "Answered"]


@dataclass(frozen=True)
class Answered:
    """What the server sends."""

    body: bytes = b""
    status: str = "200 OK"
    headers: dict[str, str] = field(default_factory=dict)
    forever: bool = False
    """It goes on with the same bytes until the client leaves."""


@dataclass
class StandIn:
    """A server that answers each request by its path and its query."""

    respond: Respond
    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str = "") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = urlsplit(head.decode("latin-1").split(" ")[1])
                query = {name: values[-1] for name, values in parse_qs(target.query, keep_blank_values=True).items()}
                self.asked.append((target.path, query))
                answer = self.respond(target.path, query)
                length = {} if answer.forever else {"content-length": str(len(answer.body))}
                lines = [f"{name}: {value}" for name, value in {**length, **answer.headers}.items()]
                writer.write("\r\n".join([f"HTTP/1.1 {answer.status}", *lines, "", ""]).encode() + answer.body)
                await writer.drain()
                while answer.forever:
                    writer.write(answer.body)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def standing_in(respond: Respond) -> AsyncIterator[StandIn]:
    """The server, while it is needed."""
    stand_in = StandIn(respond)
    server = await asyncio.start_server(stand_in.serve, "127.0.0.1", 0)
    stand_in.port = server.sockets[0].getsockname()[1]
    try:
        yield stand_in
    finally:
        server.close()


def caps(limit: int = 100) -> bytes:
    """What Prowlarr and Jackett say they can do."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<caps>
  <server title="Prowlarr" />
  <limits default="{limit}" max="{limit}" />
  <searching>
    <search available="yes" supportedParams="q" />
    <tv-search available="yes" supportedParams="q,season,ep" />
    <movie-search available="no" supportedParams="q" />
  </searching>
  <categories>
    <category id="5000" name="TV"><subcat id="5070" name="TV/Anime" /></category>
    <category id="2000" name="Movies" />
  </categories>
  <tags />
</caps>""".encode()


def error(code: int, description: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<error code="{code}" description="{description}" />'.encode()


def channel(*items: str) -> bytes:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<rss version="1.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:torznab="http://torznab.com/schemas/2015/feed">
<channel><title>Indexer</title>{"".join(items)}</channel></rss>""".encode()


def prowlarr_item(host: str, number: int, *, usenet: bool = False) -> str:
    """Neither `magneturl` nor `.torrent`: a link on its own host, which may redirect to a magnet."""
    kind = "application/x-nzb" if usenet else "application/x-bittorrent"
    url = f"{host}/1/download?apikey={KEY}&amp;link=Zm9v{number}&amp;file=Kura"
    return f"""<item><title>[Kura] Yoru no Kurabito - {number:02} [1080p]</title><guid>https://tracker.example/{number}</guid>
<prowlarrindexer id="1" type="public">Tracker</prowlarrindexer><pubDate>Tue, 24 Aug 2021 22:18:46 +0000</pubDate>
<size>639212749</size><link>{url}</link><category>5070</category>
<enclosure url="{url}" length="639212749" type="{kind}" />
<torznab:attr name="seeders" value="{number}" /><torznab:attr name="peers" value="{number + 3}" />
<torznab:attr name="downloadvolumefactor" value="0" /></item>"""


def prowlarr_magnet(host: str, number: int) -> str:
    """A release that has a magnet link alone: that leads through Prowlarr too, in the attribute as in the enclosure."""
    url = f"{host}/1/download?apikey={KEY}&amp;link=bWFn{number}&amp;file=Kura"
    return f"""<item><title>[Kura] Yoru no Kurabito - {number:02} [1080p]</title><description />
<guid>https://tracker.example/{number}</guid><prowlarrindexer id="1" type="public">Tracker</prowlarrindexer>
<comments>https://tracker.example/{number}</comments><pubDate>Tue, 24 Aug 2021 22:18:46 +0000</pubDate><size>639212749</size>
<link></link><category>5070</category><enclosure url="{url}" length="639212749" type="application/x-bittorrent" />
<torznab:attr name="category" value="5070" /><torznab:attr name="genre" value="" />
<torznab:attr name="seeders" value="{number}" /><torznab:attr name="grabs" value="3" />
<torznab:attr name="peers" value="{number + 3}" /><torznab:attr name="infohash" value="{number:040x}" />
<torznab:attr name="magneturl" value="{url}" /><torznab:attr name="downloadvolumefactor" value="0" />
<torznab:attr name="uploadvolumefactor" value="1" /></item>"""


def jackett_item(host: str, number: int) -> str:
    """A link through Jackett that looks like no torrent, with hash and magnet as attributes."""
    url = f"{host}/dl/tracker/?jackett_apikey={KEY}&amp;path=Q2ZE{number}&amp;file=Kura+{number}"
    return f"""<item><title>[Kura] Yoru no Kurabito - {number:02} [1080p]</title><guid>https://tracker.example/{number}</guid>
<jackettindexer id="tracker">Tracker</jackettindexer><type>public</type>
<pubDate>Tue, 24 Aug 2021 22:18:46 +0200</pubDate><size>639212749</size><link>{url}</link>
<category>5070</category><enclosure url="{url}" length="639212749" type="application/x-bittorrent" />
<torznab:attr name="category" value="5070" /><torznab:attr name="seeders" value="7" />
<torznab:attr name="peers" value="9" /><torznab:attr name="infohash" value="{number:040x}" />
<torznab:attr name="magneturl" value="magnet:?xt=urn:btih:{number:040x}&amp;dn=Kura" /></item>"""


def private_item(host: str, number: int, magnet: str = "") -> str:
    """What Jackett says of a tracker for members: no hash, and its link leads to the torrent file; some name a magnet too."""
    url = f"{host}/dl/members/?jackett_apikey={KEY}&amp;path=Q2ZE{number}&amp;file=Kura+{number}"
    attribute = f'<torznab:attr name="magneturl" value="{magnet}" />' if magnet else ""
    return f"""<item><title>[Kura] Yoru no Kurabito - {number:02} [1080p]</title><guid>https://members.example/{number}</guid>
<jackettindexer id="members">Members</jackettindexer><type>private</type>
<pubDate>Tue, 24 Aug 2021 22:18:46 +0200</pubDate><size>639212749</size><link>{url}</link>
<category>5070</category><enclosure url="{url}" length="639212749" type="application/x-bittorrent" />
<torznab:attr name="category" value="5070" /><torznab:attr name="seeders" value="7" />
<torznab:attr name="peers" value="9" />{attribute}</item>"""


def private_torrent(passkey: str, number: int = 7) -> tuple[bytes, str]:
    """The file of a private torrent with the passkey in the address of its tracker, and its hash."""
    announce = f"https://members.example/announce/{passkey}".encode()
    info = b"d6:lengthi5e4:name%d:%b12:piece lengthi16384e6:pieces20:%b7:privatei1ee"
    name = f"[Kura] Yoru no Kurabito - {number:02} [1080p].mkv".encode()
    whole = info % (len(name), name, b"x" * 20)
    torrent = b"d8:announce%d:%b4:info%be" % (len(announce), announce, whole)
    return torrent, hashlib.sha1(whole, usedforsecurity=False).hexdigest()


SITE_ITEMS = {
    "mikan": f"""<item><guid isPermaLink="false">[Kura] Yoru no Kurabito - 07 [1080p]</guid>
<link>https://site.example/Home/Episode/{HASH}</link><title>[Kura] Yoru no Kurabito - 07 [1080p]</title>
<torrent xmlns="https://mikanani.me/0.1/"><link>https://site.example/Home/Episode/{HASH}</link>
<contentLength>639212749</contentLength><pubDate>2021-08-24T22:18:46.1</pubDate></torrent>
<enclosure type="application/x-bittorrent" length="639212749" url="https://site.example/Download/{HASH}.torrent" /></item>""",
    "nyaa": f"""<item><title>[Kura] Yoru no Kurabito - 07 [1080p]</title><link>https://site.example/download/7.torrent</link>
<guid isPermaLink="true">https://site.example/view/7</guid><pubDate>Tue, 24 Aug 2021 22:18:46 -0000</pubDate>
<nyaa:seeders xmlns:nyaa="https://nyaa.si/xmlns/nyaa">4</nyaa:seeders><nyaa:leechers>3</nyaa:leechers>
<nyaa:infoHash>{HASH}</nyaa:infoHash><nyaa:size>609.6 MiB</nyaa:size></item>""",
    "acgrip": """<item><title>[Kura] Yoru no Kurabito - 07 [1080p]</title><pubDate>Tue, 24 Aug 2021 15:18:46 -0700</pubDate>
<link>https://site.example/t/7</link><guid>https://site.example/t/7</guid>
<enclosure url="https://site.example/t/7.torrent" type="application/x-bittorrent"/></item>""",
    "dmhy": f"""<item><title><![CDATA[ [Kura] Yoru no Kurabito - 07 [1080p] ]]></title>
<link>http://site.example/topics/view/7.html</link><pubDate>Wed, 25 Aug 2021 06:18:46 +0800</pubDate>
<enclosure url="magnet:?xt=urn:btih:{HASH}&dn=&tr=http%3A%2F%2Ft.example" length="1" type="application/x-bittorrent"/>
<guid isPermaLink="true">http://site.example/topics/view/7.html</guid></item>""",
    "animetosho": f"""<item><title>[Kura] Yoru no Kurabito - 07 [1080p]</title><link>https://site.example/view/7</link>
<description><![CDATA[<strong>Total Size</strong>: 609.6 MB<br/><a href="magnet:?xt=urn:btih:{HASH}">Magnet</a>]]></description>
<guid isPermaLink="true">https://site.example/view/7</guid>
<enclosure url="https://site.example/storage/torrent/{HASH}/7.torrent" type="application/x-bittorrent" length="0"/></item>""",
    "bangumi_moe": """<item><title>[Kura] Yoru no Kurabito - 07 [1080p]</title>
<link>https://site.example/torrent/69e5c31584f11a93b597ac80</link><description>&lt;p&gt;Kura&lt;/p&gt;</description>
<guid isPermaLink="true">https://site.example/torrent/69e5c31584f11a93b597ac80</guid>
<pubDate>Tue, 24 Aug 2021 22:18:46 GMT</pubDate><enclosure type="application/x-bittorrent" length="639212749"
url="https://site.example/download/torrent/69e5c31584f11a93b597ac80/%5BKura%5D%20Yoru%20-%2007.torrent"/></item>""",
    # It has no enclosure, and the hash in base 32.
    "tokyotosho": f"""<item><category>Anime</category><title>[Kura] Yoru no Kurabito - 07 [1080p].mkv</title>
<link><![CDATA[https://site.example/download/7.torrent]]></link>
<description><![CDATA[<a href="https://site.example/download/7.torrent">Torrent Link</a><br />
<a href="magnet:?xt=urn:btih:{HASH_32}&tr=http://t.example:7777/announce">Magnet Link</a><br />
<a href="https://site.example/details.php?id=7">Tokyo Tosho</a><br />Size: 609.6MB<br />Authorized: Yes<br />
Submitter: Kura]]></description><guid><![CDATA[https://site.example/details.php?id=7]]></guid>
<pubDate>Tue, 24 Aug 2021 22:18:46 GMT</pubDate></item>""",
}
"""One item as each site sends it, the host aside."""
