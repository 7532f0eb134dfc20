"""What arrived, as RSS 2.0."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.utils import format_datetime
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from kurabito.downloads.history.entry import HistoryEntry

MEDIA_TYPE: Final = "application/rss+xml; charset=utf-8"
_NOT_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def feed_of(entries: Iterable[HistoryEntry], *, site: str) -> bytes:
    """The entries as a feed; `site` is the address of this installation."""
    rss = Element("rss", version="2.0")
    channel = SubElement(rss, "channel")
    for name, text in (
        ("title", "Kurabito"),
        ("link", f"{site}/"),
        ("description", "What arrived"),
        ("generator", "Kurabito"),
        ("ttl", "30"),
    ):
        SubElement(channel, name).text = text
    for entry in entries:
        _item(channel, entry, site)
    written: bytes = tostring(rss, encoding="utf-8", xml_declaration=True)
    return written


def _item(channel: Element, entry: HistoryEntry, site: str) -> None:
    item = SubElement(channel, "item")
    SubElement(item, "title").text = _xml(_name(entry))
    SubElement(item, "description").text = _xml(entry.title)
    if entry.series_id is not None:
        SubElement(item, "link").text = f"{site}/series/{entry.series_id}"
    SubElement(item, "category").text = entry.kind.value
    SubElement(item, "guid", isPermaLink="false").text = f"kurabito:{entry.cursor}"
    SubElement(item, "pubDate").text = format_datetime(entry.at, usegmt=True)


def _name(entry: HistoryEntry) -> str:
    if entry.series is None:
        return entry.title
    if entry.episode is None:
        return entry.series
    return f"{entry.series} S{entry.season:02}E{entry.episode:02g}"


def _xml(text: str) -> str:
    """The text without what XML cannot have."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
