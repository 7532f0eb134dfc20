"""Corrections: what a person changes of what was recognised. Each is one transaction, is remembered, and can be undone.

    merge | split | move | release | change | answer ─► journal ─► undo

model.py     the words, and a correction as it is listed
changes.py   changes of rows that can be taken back; every correction is made of them
journal.py   the corrections as they are stored
merge.py     two series become one;  split.py  some names and links become a series of their own
files.py     files go with the links and episodes that they are of
names.py     a series gets other names, or has them beside another season
moves.py     links go to another series or episode
record.py    a series gets another record, as a person chose
undo.py      takes the last correction of a series back
service.py   what can be asked: previews and corrections, with what follows for downloads

Series that were merged stay as rows that say into which; nothing that refers to them breaks. No file on a disk is touched.
"""
