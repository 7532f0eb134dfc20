"""The pages that the navigation leads to. A new page is one entry here, and its texts in one file of `locales/`."""

from __future__ import annotations

from typing import Final, NamedTuple


class NavigationEntry(NamedTuple):
    """A page in the navigation; its title is the message `<name>.nav`."""

    name: str
    path: str


NAVIGATION: Final = (
    NavigationEntry("now", "/"),
    NavigationEntry("tasks", "/tasks"),
    NavigationEntry("following", "/following"),
    NavigationEntry("search", "/search"),
    NavigationEntry("wanted", "/wanted"),
    NavigationEntry("calendar", "/calendar"),
    NavigationEntry("series", "/series"),
    NavigationEntry("downloads", "/downloads"),
    NavigationEntry("rules", "/rules"),
    NavigationEntry("library", "/library"),
    NavigationEntry("matches", "/matches"),
    NavigationEntry("duplicates", "/duplicates"),
    NavigationEntry("system", "/system"),
    NavigationEntry("docs", "/docs"),
)
