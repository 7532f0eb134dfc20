"""Finding equal files below some folders without a server: `kurabito dedupe`.

`roots` are the folders that were named, `walk` lists them with all cores into `found`, `sieve` drops what has no equal, `search`
reads the rest, `cache` remembers digests for the next time, and `surplus` removes copies when that is asked for.
"""
