"""Files as the file system knows them.

births.py    when a file was made, to tell it from one that came later and got its inode
"""
