"""Scanning a library: what is on the disk and what is known, compared in the order of the paths.

`scanner` runs a scan. `shards` divides the library, `walkers` walk the shards in `walk_process`es, and `chunks` of files come
back in order, compared with the `known_files` that `prefetch` looked up. `session` keeps how far the scan came, `comebacks`
recognises files that return, and `ending` finds what moved or is missing and what is worth hashing.
"""
