"""Sending downloads to downloaders, and following them there.

`dispatcher` offers, `pending` has what is to be sent, `batches` is what one downloader is sent at once, `attempts` remembers
every offer, `poller` asks how downloads are doing, `recovery` queues those that were left behind, `cleanup` removes what
should no longer be at a downloader, `remote` and `built_in` are the two ways to speak to one.
"""
