"""How a season is told from its show where titles do not count it.

own_names.py   names that a season has of its own, beside its number or without it
bare_names.py  names beside a season whose number stands at another name: they may be the show's
signs.py       signs that tell a season from another: `Show!!`, `Show♭`
reach.py       how far the numbers of a season go
"""
