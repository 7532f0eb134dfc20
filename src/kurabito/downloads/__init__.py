"""Downloads: which links are taken, which downloader fetches them, and how far they are.

grabber.py   takes links: filters decide which, choosing.py picks one release for each episode
filters/     the rules, and what a change of them would do
dispatch/    sends downloads to downloaders and follows them there
store.py     downloads as they are stored; states.py has their moves, downloads.py what can be asked of them
paths/       whether a downloader and the core see the same folder
reasons.py   why a download is where it is; errors.py has what goes wrong
wanting.py   wanting an episode again
client.py    the port to a program that downloads; clients/ has the adapters
service.py   a downloader as a service of its own; announcer.py registers it
"""
