"""The queues we compare with, each used as its own documentation recommends for speed.

A module is imported only by the processes that run it. Those on a store have `enqueue`, `drain`, `serve` and `send`;
those in memory do everything in one process and have `drain` and `latency`.
"""
