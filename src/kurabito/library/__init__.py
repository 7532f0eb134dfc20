"""The policy of the library: which folders are libraries, when they are scanned, and in which order.

libraries.py    the folders that are kept, and their files
folders.py      the same files by the folders that they lie in
removal.py      forgetting a library; obstacles.py says what to know before
jobs.py         units of disk work: admitted here, executed by the data plane
reconcile.py    keeps tasks and jobs telling the same story
scan_queue.py   scans as people see them
schedules.py    scans that come by themselves
watching.py     scans because something changed
duplicates.py   files with the same content
deletion/       which of them may go, and the way back
"""
