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
    """A page in the navigation; its title is the message `<name>.nav`, its picture the symbol of this name in `icons.html`."""

    name: str
    path: str
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
    NavigationEntry("home", "/", NavigationGroup.COLLECTION, on_bar=True),
    NavigationEntry("series", "/series", NavigationGroup.COLLECTION, on_bar=True),
    NavigationEntry("calendar", "/calendar", NavigationGroup.COLLECTION, ("/metadata",), on_bar=True),
    NavigationEntry("library", "/library", NavigationGroup.COLLECTION, ("/adoption", "/imports", "/folders")),
    NavigationEntry("downloads", "/downloads", NavigationGroup.COLLECTION, ("/history",), on_bar=True),
    NavigationEntry("following", "/following"),
    NavigationEntry("wanted_list", "/wanted"),
    NavigationEntry("search", "/search"),
    NavigationEntry("rules", "/rules"),
    NavigationEntry("matches", "/matches", also=("/questions",)),
    NavigationEntry("duplicates", "/duplicates", also=("/trash",)),
    NavigationEntry("tasks", "/now", NavigationGroup.SYSTEM, ("/tasks",)),
    NavigationEntry("system", "/system", NavigationGroup.SYSTEM),
    NavigationEntry("settings", "/settings", NavigationGroup.SYSTEM, ("/notifications",)),
    NavigationEntry("docs", "/docs", NavigationGroup.SYSTEM),
)


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
