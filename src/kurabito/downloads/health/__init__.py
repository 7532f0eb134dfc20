"""Health of downloads: what the API and the page both show, decided once.

progress.py      the progress of one download in one word, and which actions it takes now
downloaders.py   whether each downloader answers, and how many downloads wait for it
"""
