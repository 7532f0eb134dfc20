"""The catalog: which series and episode a release belongs to, and the links that can be downloaded.

    FeedItem ─► Release (its title and URL read) ─► Decision, SeriesMatch ─► Link (stored, one for each episode) ─► LinkSink
       └─► PreviewedItem: the same, before a feed is followed, and nothing is stored

intake.py         takes in what fetchers bring; previews.py shows what a feed would give
releases.py       reads a release from an item; release_key.py says when two are the same release
identity/         which series a release is about: a decision with evidence
corrections/      what a person changes of it, remembered and undone
relinks/          what came of reading links again, and by what they were read
spellings.py      how names are spelled: seasons behind them, Japanese in Latin letters
linker.py         makes links of releases; link_sink.py is the port that takes them on
series.py, links.py, rules.py   series, links and title rules as they are stored
catalog.py        what can be asked of series and links; title_rules.py what can be asked of title rules
follow.py         follows what a record or the calendar shows, before a feed has brought it
summaries.py      what became of many items, and how far many series are
download_types.py how a URL is downloaded: a chain of detectors, from the strictest to the loosest
states.py         the words for series, episodes and links
matching/         which show or film a folder or a series is about
"""
