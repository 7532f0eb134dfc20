"""Libraries, their scans, jobs and thumbnails.

jobs.py       jobs: units of disk work, and what a person may do about them
libraries.py  libraries: the folders that are kept, their files, and asking for a scan
scan_tasks.py the scan queue: scans that wait, run, or are over
thumbs.py     thumbnails: asked for one by one or many at once, looked up, shown, and removed by the group
"""
