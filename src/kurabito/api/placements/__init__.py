"""Filing: files on their way into libraries, and how libraries name them.

adoption.py      what of the libraries is not had: videos that no episode has, and why
imports.py       imports: files that a person gives to a series
media_servers.py media servers: which programs hear that folders changed
naming.py        how libraries name their files, and what a naming would give
placements.py    placements: files on their way from downloads into libraries
questions.py     questions about files that a plan could not decide about, and their answers
renames.py       what another naming would rename in a library, and renaming it
"""
