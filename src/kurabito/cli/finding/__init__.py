"""Commands that find shows and tell what became of them: indexers, grab, follow, backfill, profile, blocklist, history.

What they decide is stored; a running `kurabito serve` downloads it.

opened_product.py the product over the database of an installation, for commands that do what its pages do
profiles.py       `kurabito profile`: how releases are chosen
releases.py       a search to its end, for commands that go on with what it found
"""
