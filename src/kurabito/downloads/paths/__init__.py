"""Whether a downloader and the core see the same folder: tests.py asks both sides, probes.py has the files that they leave there."""
