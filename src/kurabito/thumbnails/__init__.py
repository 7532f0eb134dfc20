"""Thumbnails: which are made, under which name, how many may wait, and when they are deleted. Data planes make them."""
