"""Feeds: what is followed, and what came of it."""
