"""Feeds: what is followed, and what came of it.

subscriptions.py   the feeds that are followed; subscription_state.py is what reading one leaves there
fetching.py        asks for a feed; parsing.py, markup.py and items.py read it
raw_items.py       items as they came, each kept once
health.py          whether a feed is read, in one word
tasks.py           the tasks that read feeds
"""
