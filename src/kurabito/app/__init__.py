"""The composition root: the one place where ports meet adapters.

    state.py     the folder of everything we keep, and the lock that says who has it
    database.py  made ready before it is used: backed up, then migrated
    tasks.py     every task of the product, and what follows what
    site.py      what answers HTTP
    serving.py   all of it together, until it is told to stop
    doctor.py    what is wrong here, and how to make it right
    demo.py      the same on made-up data

Nothing is imported here, so that a command loads only what it needs.
"""
