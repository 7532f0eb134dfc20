"""Feeds: what is followed, and the items that it brings.

    feed ─► FeedItem (as it came) ─► RawItem (kept, with what became of it) ─► catalog

subscriptions.py        a subscription, its settings and how reading it goes; subscription_store.py alone writes them
service.py              what a program asks of the subscriptions
fetcher.py              asks for a feed; parser.py, markup.py and items.py read it
results.py              what a fetcher brings, and the port that takes it in
raw_items.py            items as they are kept, each once
preferences.py          what a keeper likes better, where there are several releases of one episode
health.py               whether a feed is read, in one word
tasks.py                the tasks that read feeds
dates.py                when something was published, in the ways in which feeds write it
encodings.py            the text of a feed, whatever it says about how it is written
sizes.py                how large a release is, as feeds write it: 409259200, "609.6 MiB", "1.4 GB", and in words: "Size
"""
