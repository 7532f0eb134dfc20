"""Release titles: what a line such as `[Kura] Yoru no Kurabito - 07v2 [1080p]` says.

    from kurabito.titles import parse_title

    found = parse_title("[Kura] Yoru no Kurabito - 07v2 [1080p]")
    found.title, found.episodes, found.version      # 'Yoru no Kurabito', (7,), 2

A title goes through layers. It is normalised (`text`), cut at its brackets (`draft`), and read by recognisers from the surest
to the least sure (`tags`, `years`, `extras`, `kinds`, `seasons`, `episodes`, `groups`); each takes its part out, and what is left is
the name (`names`). What may be wrong with the numbers is said beside them (`doubts`). A user's `TitleRule` has the last word. Time
and memory are bounded for every input: only the first `LONGEST_TITLE` characters are read, and no pattern can backtrack without
limit.

Names are compared elsewhere; what can be said about one alone is here: its script, in which Chinese is compared, and
language (`scripts`), the sound of a name in romaji or kana (`romaji`, `kana`), short forms of a long one
(`abbreviations`), and whether it names nothing (`junk_names`).

bare_numbers.py recognises numbers that count episodes though no word says so, from where they stand
model.py        what a release title says: the values that the parser gives back
pairs.py        two names side by side: where the second begins, and whether they are one in two forms
parser.py       reads a release title: the recognisers in their order, each taking its part out of what the next one reads
rules.py        rules that a user wrote for titles that the recognisers get wrong; they come first
vocabulary.py   the words that releases use about themselves, and what each means
words.py        finds the words of the vocabulary in a text
"""

from kurabito.titles.abbreviations import short_names
from kurabito.titles.junk_names import is_junk_name
from kurabito.titles.kana import kana_to_romaji
from kurabito.titles.model import Episode, Finding, ReleaseExtra, ReleaseKind, ReleaseTitle, TitleDoubt
from kurabito.titles.parser import PARSER_VERSION, parse_title
from kurabito.titles.romaji import romaji_key
from kurabito.titles.rules import InvalidRule, TitleRule
from kurabito.titles.scripts import Script, SeriesName
from kurabito.titles.text import LONGEST as LONGEST_TITLE
from kurabito.titles.text import fold as fold_title

__all__ = [
    "LONGEST_TITLE",
    "PARSER_VERSION",
    "Episode",
    "Finding",
    "InvalidRule",
    "ReleaseExtra",
    "ReleaseKind",
    "ReleaseTitle",
    "Script",
    "SeriesName",
    "TitleDoubt",
    "TitleRule",
    "fold_title",
    "is_junk_name",
    "kana_to_romaji",
    "parse_title",
    "romaji_key",
    "short_names",
]
