"""Stories: what is told of a record beside its poster and its ids. Episodes with titles and days, summaries, a backdrop, an end.

sources.py   what TMDB and bgm.tv say of one record
store.py     stories as the database keeps them (metadata_extras), and which records are due
refresh.py   the task that follows every sync: asks for what is due, within a budget for each host
service.py   what is told of a record, for the API and the pages
"""
