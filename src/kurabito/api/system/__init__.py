"""The installation: health, metrics, keys and maintenance.

attention.py  `GET /api/v1/attention`: what needs a person, and what of it is hidden
health.py     `GET /health`: is this process able to work?
keys.py       `/api/v1/keys`: make, list and revoke the keys of programs
meters.py     what we count about ourselves
metrics.py    `GET /metrics`: how the queue and the HTTP interface are doing, for Prometheus
notifications.py `/api/v1/notifications`: where notifications go, and what was sent
prometheus.py the text that Prometheus reads, and the two kinds of number that we keep for it ourselves
settings.py   `/api/v1/settings`: every setting with where its value came from; change and reset them; start again
system.py     `GET /api/v1/system`: what this process is, who works for it, and how it is set up
wal.py        checkpoints of SQLite's log: asked for here, done by a data plane
"""
