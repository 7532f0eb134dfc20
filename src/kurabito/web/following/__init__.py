"""Feeds and title rules."""
