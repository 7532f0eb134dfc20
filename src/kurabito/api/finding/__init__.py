"""Indexers, and the search through them."""
