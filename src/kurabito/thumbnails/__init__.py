"""Thumbnails: which are made, under which name, how many may wait, and when they are deleted. Data planes make them.

admission.py   requests for thumbnails
cleanup.py     when the thumbnails of a group are deleted
file_server.py the files of the thumbnails, served from their folder
keys.py        the source of a thumbnail, and the names that follow from it
metrics.py     numbers about the thumbnails
queries.py     the statements about thumbnails
sweep.py       finds unused thumbnails: of files that are gone or changed, and files that no row knows
"""
