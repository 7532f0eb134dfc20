"""Files as the file system knows them.

paths.py   names and paths as text, checked before every use
walk.py    lists a folder in the order of its paths; ignore.py says which names to skip
digest.py  computes digests of open files
births.py  when files were made; statx.py asks Linux what Python does not
"""
