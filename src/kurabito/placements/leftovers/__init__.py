"""Leftovers: what a download that is filed leaves behind, once its downloader is done seeding. Off unless a downloader says so.

store.py  which downloads are filed, and the placements that take their names away
tidy.py   the task: asks the downloader, has it forget the download, and then has the names go

Only what Kurabito added to a downloader is removed there. A name goes as the source of a move does: a data plane looks at the file in
the library first, by its inode or byte for byte, so the last name of a file never goes. What was not filed stays.
"""
