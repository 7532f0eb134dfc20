"""Imports: files that a person gives to a series, of a library or of the folder for downloads. The plan is shown first.

    ImportOrder ─► in a library: its known files ─► plan ─► given to their episodes where they lie
                └► a folder for downloads: inspection (data plane) ─► plan ─► placements

model.py    what is asked for, and the plan
inside.py   files that a library has already
arrivals.py files that are put into a library
service.py  plan and apply
"""
