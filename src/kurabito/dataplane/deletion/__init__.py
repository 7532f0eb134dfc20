"""`delete` jobs: plans, deleted files, restores and purges, step by step, each step written down before and after it is taken.

`job` takes the steps of a plan, `steps` does one of them, `discards` moves what its keeper deleted, `trash` restores
and purges, `refusals` says why a file stays, `log` is what the database knows of it, in the types of `model`. What touches the disk is in `kurabito.dataplane.removal`.
"""
