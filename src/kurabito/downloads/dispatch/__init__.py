"""Sending downloads to downloaders, and following them there.

`dispatcher` offers, `outbox` has what is to be sent, `batches` is what one downloader is sent at once, `attempts` remembers
every offer, `poller` asks how downloads are doing, `recovery` queues those that were left behind, `cleanup` removes what
should no longer be at a downloader, `remote` and `built_in` are the two ways to speak to one.

answers.py   the answers of downloaders, read with care: what is broken, or about something else, is left out
locks.py     at one downloader, an offer and a cleanup never run at the same time
outcomes.py  what a downloader's answer means for a download, and what its silence does
room.py      whether there is room on the disk for what is to be downloaded
private_torrents.py the files of private torrents: stored, given to the downloader, and never shown
save_path.py where a download goes: a folder of its own below the download root, as its downloader sees it
in_process.py downloaders of this process, called without a request: the built-in one, and those that the keeper typed in
"""
