"""The pages that the navigation leads to. A new page is one entry here, and its words in the catalogues."""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """A page in the navigation; its title is the message `nav.<name>`."""

    name: str
    path: str


NAVIGATION: Final = (
    Entry("now", "/"),
    Entry("tasks", "/tasks"),
    Entry("following", "/following"),
    Entry("calendar", "/calendar"),
    Entry("series", "/series"),
    Entry("downloads", "/downloads"),
    Entry("rules", "/rules"),
    Entry("library", "/library"),
    Entry("matches", "/matches"),
    Entry("duplicates", "/duplicates"),
    Entry("system", "/system"),
    Entry("docs", "/docs"),
)
