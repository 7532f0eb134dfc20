"""Predecessors: what AutoBangumi or Sonarr knows, taken over. Theirs is only read, and nothing of it is changed.

model.py        what such a program knows, in one form for both
autobangumi.py  a database file of AutoBangumi 3.0 to 3.3
sonarr.py       the API v3 of Sonarr
values.py       texts and numbers of theirs, as far as a database of ours can hold them
takeover.py     what would become of it here, and doing so

Shows that are taken over are not followed, and nothing of them is wanted, unless that is asked for. Feeds are added only if
that is asked for, and switched off.
"""
