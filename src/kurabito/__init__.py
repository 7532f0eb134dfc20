"""Kurabito keeps a media collection, and runs background work that survives crashes."""
