"""Metadata records, matches, the calendar and posters.

calendar.py the calendar: what is on this week, and what began in any season
matches.py  matches: which show or film the folders of a library are about, and what a person says of it
posters.py  `GET /posters/{name}`: the posters that are kept here, and nothing else
records.py  metadata records: look at them, find them, change them, have them filled in
search.py   search for a title wherever it is known, and choose it for folders or a series
sources.py  `GET /api/v1/metadata/sources`: how the services and the index are that metadata comes from
stories.py  what is told of a record beside its poster and its ids: episodes, summaries, a backdrop, its end
titles.py   a show or a film as lists of them name it
"""
