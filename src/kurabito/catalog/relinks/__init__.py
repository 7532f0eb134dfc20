"""Relinks: links are read again, and what belongs elsewhere goes there.

    LinkRange ─► titles read again ─► LinkMove, for what belongs elsewhere ─► moved, some at a time ─► Relink: what came of it

links.py     the links that are read again, as they are stored
scope.py     which of them a change touches
places.py    where links belong as their titles are read now
judge.py     judges ranges of links, in a thread or in processes beside this one
judge_process.py  such a process
held_links.py settles links that a question holds, where it can be told now
mover.py     moves links to where they belong
store.py     the runs and the links that each moved, as they are stored
sources.py   the parser and the index that links were read by; newer ones make reading again due

`identity/relink.py` is the task that does it.
"""
