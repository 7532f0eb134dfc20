"""`delete` jobs: plans, restores and purges, step by step, each step written down before and after it is taken.

`job` takes the steps of a plan, `steps` does one of them, `trash` restores and purges, and `log` is what the database knows of
it. What touches the disk is in `kurabito.dataplane.removal`.
"""
