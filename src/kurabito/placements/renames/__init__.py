"""Renames: what another template, or another title, would change in a library; shown first, applied as placements, undoable.

named_files.py  the files of a library that have a name from us, and what they are named by now
order.py        which rename comes first, so that none meets a name that another still has
service.py      preview, apply, undo

Only what Kurabito put into a library is renamed. A rename is a placement of its own: a hard link keeps its file, so a torrent goes
on seeding under the names that it has.
"""
