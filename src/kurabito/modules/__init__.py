"""Modules: services that registered themselves, and what each can do.

services.py        as they are stored; registration.py is what can be asked of them
identities.py      which key speaks for which module
service_client.py  calls one, at its own host only
path_maps.py       where a service sees the folders of the core
download_types.py  the kinds of download
"""
