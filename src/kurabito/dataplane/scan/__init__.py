"""Scanning a library: what is on the disk and what is known, compared in the order of the paths.

scanner.py         runs a scan
shards.py          divides the library; walkers.py has the shards walked, in several walk_process.py
chunks.py          files that follow each other, as they come back in order
known_files.py     what the database knows of them; prefetch.py looks it up while the next chunk is walked
session.py         how far the scan came
comebacks.py       recognises files that return
finish.py          finds what moved, what is missing and what is worth hashing
trash_adoption.py  takes over the trash that a new library brings
queries.py         the statements of a scan
"""
