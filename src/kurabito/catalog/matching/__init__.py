"""Matching: which show or film the folders of a library, and the series of feeds, are about.

clues.py       what the name of a folder says
knowledge.py   what is known by such a name: series, records, entries of the offline index
choices.py     what keepers chose before, for folders of the same name
verdict.py     which of those it is; what cannot be told apart is never guessed at
decision.py    the three together, for many folders at once
matches.py     what was found, as the database keeps it
matcher.py     the folders that a scan added, matched while the scan is still under way
online.py      what was left, matched later by what TMDB knows
western.py     which show or film that is no anime a folder is about
service.py     what there is to ask about it, and a keeper's own choice, which stays
model.py       the words of matching
"""
