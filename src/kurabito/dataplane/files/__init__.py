"""Files as the file system knows them.

paths.py   names and paths as text, checked before every use
walk.py    lists a folder in the order of its paths; ignore.py says which names to skip
digest.py  computes digests of open files
columns.py the columns of known files that a data plane fills for many at once
births.py  when files were made; statx.py asks Linux what Python does not
"""
