"""Hashing the files of a library: `job` reads what `store` gives it, `large_files` lets a huge file be read in turns."""
