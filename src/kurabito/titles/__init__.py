"""Release titles: what a line such as `[Kura] Yoru no Kurabito - 07v2 [1080p]` says.

    from kurabito.titles import parse_title

    found = parse_title("[Kura] Yoru no Kurabito - 07v2 [1080p]")
    found.title, found.episodes, found.version      # 'Yoru no Kurabito', (7,), 2

A title goes through layers. It is normalised (`text`), cut at its brackets (`draft`), and read by recognisers from the surest
to the least sure (`tags`, `years`, `kinds`, `seasons`, `episodes`, `groups`); each takes its part out, and what is left is the name
(`names`). A user's `TitleRule` has the last word. Time and memory are bounded for every input: only the first
`LONGEST_TITLE` characters are read, and no pattern can backtrack without limit.
"""

from kurabito.titles.model import Episode, Finding, ReleaseKind, ReleaseTitle
from kurabito.titles.parser import parse_title
from kurabito.titles.rules import InvalidRule, TitleRule
from kurabito.titles.text import LONGEST as LONGEST_TITLE
from kurabito.titles.text import fold as fold_title

__all__ = [
    "LONGEST_TITLE",
    "Episode",
    "Finding",
    "InvalidRule",
    "ReleaseKind",
    "ReleaseTitle",
    "TitleRule",
    "fold_title",
    "parse_title",
]
