"""Relinks: what came of reading links again, and by what they were read last.

places.py    where links belong as their titles are read now
store.py     the runs and the links that each moved, as they are stored
sources.py   the parser and the index that links were read by; newer ones make reading again due

`identity/relink.py` reads and moves them.
"""
