"""The catalog: which series and episode a release is about, and the links that can be downloaded.

intake.py        takes in what fetchers bring
releases.py      what an item says it is; identity.py says when two are the same release
series_match.py  from a release's name to its series
linking.py       makes links of releases; link_sink.py is the port that takes them
series.py, links.py, rules.py   as they are stored; catalog.py is what can be asked of them
matching/        which show or film a folder or a series is about
"""
