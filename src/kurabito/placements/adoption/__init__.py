"""Adoption: what a library has already counts. Its files are given to their episodes; nothing is moved, renamed or written.

    scan, matched folders ─► units ─► series (not followed) ─► reading ─► cours ─► episodes in the library
                               └─► loose files, by their names              └─► what could not be told, with reasons

units.py    which folders and files of a library go together, and which records they are about; pure
open_folders.py  folders that matching left open, told by an id in their name or by how far they count
loose.py    files that lie in no folder of a show: what their own names say
reading.py  which episodes the files of a unit have
seasons.py  other seasons in the same folder
cours.py    numbers that count on into the next cour or season
reasons.py  why a video is no episode of a series
store.py    all of it as the database keeps it
rounds.py   one library after the other, whenever a scan or a match brought something new
service.py  what a program asks: the videos that were not adopted

What is adopted is not followed, and nothing of it is wanted until the user says so (`catalog/wishes.py`).
"""
