"""`delete` jobs: plans, restores and purges, step by step, each step written down before and after it is taken.

What touches the disk is in `kurabito.dataplane.removal`; what the database knows of it is in `log`.
"""
