"""How a data plane comes by rows, keeps them, and is known to be alive.

plane_locks.py    a lock that ends with its process, so that a death is noticed at once
"""
