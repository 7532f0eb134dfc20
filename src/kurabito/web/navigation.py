"""The pages that the navigation leads to. A new page is one entry here, and its texts in one file of `locales/`."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from kurabito.settings.fields import SettingGroup


class NavigationGroup(StrEnum):
    """What stands together in the navigation, from its top to its end."""

    COLLECTION = "collection"
    """What a keeper comes for."""
    MANAGE = "manage"
    """What fills the collection and keeps it in order."""
    SYSTEM = "system"
    """The program itself."""


class NavigationEntry(NamedTuple):
    """A page in the navigation; its title is the message `<name>.nav`."""

    name: str
    path: str
    drawing: str
    """Its picture, as the path of an SVG: 24 units square, one stroke, of our own making."""
    group: NavigationGroup = NavigationGroup.MANAGE
    also: tuple[str, ...] = ()
    """Other paths whose pages belong to it."""
    on_bar: bool = False
    """Whether a phone has it in the bar at its lower edge; the others are one tap away."""

    def leads_to(self, path: str) -> bool:
        """Whether this entry is the one for the page at a path."""
        own = path == self.path or (self.path != "/" and path.startswith(f"{self.path}/"))
        return own or any(path == other or path.startswith(f"{other}/") for other in self.also)


NAVIGATION: Final = (
    NavigationEntry(
        "home", "/", "M3 11.5 12 4l9 7.5M5.5 9.5V20h13V9.5M10 20v-6h4v6", NavigationGroup.COLLECTION, on_bar=True
    ),
    NavigationEntry(
        "series", "/series", "M4 4.5h10.5v15H4zM17.5 6l3 .8-3 11.7", NavigationGroup.COLLECTION, on_bar=True
    ),
    NavigationEntry(
        "calendar",
        "/calendar",
        "M4 6h16v14H4zM4 10.5h16M8.5 3.5v4M15.5 3.5v4",
        NavigationGroup.COLLECTION,
        ("/metadata",),
        on_bar=True,
    ),
    NavigationEntry(
        "library",
        "/library",
        "M4 4v16.5M20 4v16.5M4 11h16M4 19h16M8 11V6M11.5 11V6M15.5 19v-4.5h-5V19",
        NavigationGroup.COLLECTION,
        ("/adoption", "/imports", "/folders"),
    ),
    NavigationEntry(
        "downloads",
        "/downloads",
        "M12 4v10.5M7.5 10.5 12 15l4.5-4.5M4 16.5V20h16v-3.5",
        NavigationGroup.COLLECTION,
        ("/history",),
        on_bar=True,
    ),
    NavigationEntry("following", "/following", "M5 18.9h.1M5 12.5a6.5 6.5 0 0 1 6.5 6.5M5 6a13 13 0 0 1 13 13"),
    NavigationEntry("wanted_list", "/wanted", "M6.5 4h11v16L12 15.5 6.5 20z"),
    NavigationEntry("search", "/search", "M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5"),
    NavigationEntry("rules", "/rules", "M4 7h8M16 7h4M14 4.8v4.4M4 12h3M11 12h9M9 9.8v4.4M4 17h9M17 17h3M15 14.8v4.4"),
    NavigationEntry("matches", "/matches", "M4 4h8.5L20.5 12 12 20.5 4 12.5zM8.3 8.3h.1", also=("/questions",)),
    NavigationEntry("duplicates", "/duplicates", "M8.5 8.5H20V20H8.5zM15.5 8.5V4H4v11.5h4.5", also=("/trash",)),
    NavigationEntry(
        "tasks", "/now", "M4 6.5 5.5 8 8 5.3M11 7h9M4 12h4M11 12h9M4 17h4M11 17h9", NavigationGroup.SYSTEM, ("/tasks",)
    ),
    NavigationEntry(
        "system",
        "/system",
        "M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6",
        NavigationGroup.SYSTEM,
    ),
    NavigationEntry(
        "settings",
        "/settings",
        "M5 4v6M5 14v6M3 12h4M12 4v3M12 11v9M10 9h4M19 4v9M19 17v3M17 15h4",
        NavigationGroup.SYSTEM,
        ("/notifications",),
    ),
    NavigationEntry("docs", "/docs", "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5", NavigationGroup.SYSTEM),
)

DRAWINGS: Final = {entry.name: entry.drawing for entry in NAVIGATION}


class Subpage(NamedTuple):
    """A page that is reached from another one; the search box finds it by its title."""

    title: str
    """The key of its title."""
    path: str
    name: str
    """The page of the navigation that it belongs to."""


SUBPAGES: Final = (
    Subpage("history.title", "/history", "downloads"),
    Subpage("shared.title", "/history/addresses", "downloads"),
    Subpage("downloaders.title", "/downloads/downloaders", "downloads"),
    Subpage("blocklist.title", "/downloads/blocklist", "downloads"),
    Subpage("conflicts.title", "/downloads/conflicts", "downloads"),
    Subpage("file_questions.title", "/downloads/questions", "downloads"),
    Subpage("follow.title", "/following/new", "following"),
    Subpage("rules.title", "/following/rules", "following"),
    Subpage("indexers.title", "/search/indexers", "search"),
    Subpage("profiles.title", "/rules/profiles", "rules"),
    Subpage("questions.title", "/questions", "matches"),
    Subpage("trash.title", "/trash", "duplicates"),
    Subpage("media_servers.title", "/media-servers", "library"),
    Subpage("adoption.title", "/adoption", "library"),
    Subpage("import.title", "/imports", "library"),
    Subpage("notifications.title", "/notifications", "settings"),
    *(
        Subpage(f"setting_group.{name}", f"/settings/{name}", "settings")
        for name in (*SettingGroup, "security", "backups", "logs")
    ),
)

GROUPS: Final = tuple((group, tuple(entries)) for group, entries in groupby(NAVIGATION, key=lambda entry: entry.group))
