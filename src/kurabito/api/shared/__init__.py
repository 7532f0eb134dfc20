"""What a shared address opens: the calendar (RFC 5545) and what arrived (RSS 2.0), and nothing else.

addresses.py   make, list, renew and revoke such addresses
feeds.py       the two feeds behind them
ical.py, rss.py  how they are written
"""
