"""Downloads: which links are taken, which downloader fetches them, and how far they are.

grabber.py   takes links: filters decide which, choosing.py picks one release for each episode
filters/     the rules, and what a change of them would do
dispatch/    sends downloads to downloaders and follows them there
store.py     downloads as they are stored; states.py has their moves, downloads.py what can be asked of them
health/      the progress of downloads and the health of downloaders, as API and page show them
wanting.py   wanting an episode again
client.py    the port to a program that downloads; clients/ has the adapters
service.py   a downloader as a service of its own; announcer.py registers it
"""
