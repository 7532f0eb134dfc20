"""Downloads: which links are downloaded, which downloader fetches them, and how far they are.

    Link ─► filters ─► ReleaseOption ─► Choice ─► Download ─► DownloadRequest ─► Attempt (one offer to one downloader)
                                                     ▲                                            │
                                                     └───────── DownloadStatus (each poll) ◄──────┘

grabber.py         from links to downloads: filters decide which, choice.py picks one release for each episode
choice.py          pure; release_options.py reads what it chooses among, conflicts.py keeps what is still to be chosen
profiles/          what is preferred: named profiles, a show's own, and the score of a release
search/            what indexers have, and grabbing it; follow/ follows a show by one of its groups
wanted/            missing episodes and the search for them; blocklist/ has releases that failed
history/           what happened to releases and files; the days of episodes
edits/             edits of several shows at once, and their undo
filters/           the rules, and what a change of them would do
dispatch/          sends downloads to downloaders and follows them there
store.py           downloads as they are stored; states.py has their moves, downloads.py what can be asked of them
health/            the progress of downloads and the health of downloaders, as API and page show them
paths/             whether a downloader and the core see the same folder
reasons.py         why a download is where it is; errors.py has what goes wrong
want_again.py      wants an episode again
client.py          the port to a program that downloads, items.py its words; clients/ has the adapters
service.py         a downloader as a service of its own; announcer.py registers it
download_files.py  the files of downloads, as their downloaders list them: where filing begins
summaries.py       summaries of downloads for lists: what became of many links
tasks.py           the tasks of downloads, each enqueued in the transaction that is the reason for it
connections/       download clients that the keeper typed into the page, spoken to by this process
"""
