"""The contract of the two planes: what is stored, who may write it, and how a row is leased.

    enums.py        every value that an enum-like column may hold
    error_codes.py  why a row is in trouble
    leased/         the leased tables, each as a `LeaseSpec`
    deletion.py     what a `delete` job is given and writes down
    rights.py       what a data plane may write
    planes.py       data planes register and say that they live
    version.py      which version of it a program and a database speak
    terms.py        the numbers and lists that it fixes
    rules/          what a data plane has to do, in numbered rules;  rulebook.py  how rules are written down
    tables/         the tables column by column, from which `docs/protocol.md` is written
    external/       the other contract: what an external worker has to do over HTTP

The control plane decides and the data plane executes; the database is all they share.
"""
