"""Notifications: what arrived and what needs a person, told through Apprise or a webhook.

    file in its place ──┐
                        ├─► outbox of each destination ─► task, after a burst and outside quiet hours ─► one message
    list of attention ──┘                                                                                └─► history

model.py          a destination as its keeper sets it, what it hears of, and when it is not to be disturbed
store.py          destinations, outbox and history as they are stored; no other module writes them
events.py         what is told, and which kind of the list of attention it is
outbox.py         what is to be told, and the task that tells it
watch.py          what is new in the list of attention
senders.py        how each kind of destination is sent a message
apprise_child.py  the process in which Apprise runs: its connections are judged like all others
service.py        what a program asks: add, change, test, remove, history

An address of Apprise has passwords and tokens in it, so the address of a destination is in no answer, no error and no log.
"""
