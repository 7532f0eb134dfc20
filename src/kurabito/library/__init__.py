"""The policy of the library: which folders are libraries, when they are scanned, and in which order.

libraries.py    libraries, as they are stored; files.py has their files
service.py      adding libraries and changing their settings
folders.py      the same files by the folders that they lie in
status.py       what happens in a library, or what its last scan came to, in one word
jobs.py         units of disk work: admitted here, executed by the data plane
reconcile.py    brings tasks and jobs into agreement; loop.py does it whenever something happened
tasks.py        the tasks that are asked for about a library; hashes.py asks for hashes
removal.py      removing a library; obstacles.py says what to know before
cursors.py      pages of files in the order of their paths: a cursor names the last path that was shown
media/          what is in films and sound of the libraries: how long they are, and which tracks they have
scans/          scans: asked for, scheduled, caused by changes
duplicates/     files with the same content
deletion/       which of them may be removed, and the way back

It imports `protocol` and never `dataplane`: the database is all that the two planes share.
"""
