"""Downloads: which links are taken, which downloader fetches them, and how far they are."""
