"""Where metadata comes from.

tmdb.py           TMDB: lists of a year, searches, seasons; tmdb_titles.py reads its answers, tmdb_pages.py keeps its lists
bangumi.py        bgm.tv: the calendar and single entries
answers.py        what the two answer, made fit to be kept
bangumi_data.py   the file of the offline index, in our words
offline.py        the offline index: entries found by id or name; entry_rows.py has the rows that they are
index.py          the offline index as a whole: imported, fetched, refreshed
"""
