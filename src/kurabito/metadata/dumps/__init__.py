"""Dumps: files of other projects that a user imports, and what they add to the offline index.

    file ──► files (opened, bounded, recognised) ──► a reader ──► DumpEntry ──► store ──► join ──► index

model.py             what a dump says of an entry, in one form for all
files.py             opens plain, gzip, zip and zstd files within limits, and says from which project they come
xml_rows.py          the elements of a large XML file, one at a time
anidb.py             AniDB's anime-titles.xml: names in all languages; romaji is x-jat
anime_lists.py       Anime-Lists' anime-list.xml: where an entry begins in a season of TMDB
offline_database.py  anime-offline-database: kinds, years, synonyms, and which ids belong together
archive.py           bangumi/Archive: aliases, episodes with dates, and relations of bgm.tv
importer.py          reads a file, stores what it says, and has the index made again
store.py             the imported facts as the database keeps them
changes.py           brings the index to what they say, some changes at a time
join.py              the index made of all of them; index.py finds which entries are the same, names.py which names they have

The file of bangumi-data is stored and joined in the same way: its entries are what the others complete (`sources.index`).
No dump is part of Kurabito, and none is fetched: their projects ask for few downloads, and some licences forbid copies.
"""
