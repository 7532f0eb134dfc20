"""Edits of several series at once: what is downloaded of them, their profile and their library; each can be undone.

    ids, or all that a list has ─► edit ─► stored with what the series had ─► undo: where the edit still stands

model.py      an edit, and what a series has of what it can set
store.py      the edits, and these columns of series; the last edits are kept, older ones are forgotten
service.py    what a program asks: edit, look, undo
"""
