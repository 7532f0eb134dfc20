"""The worker: claims tasks, runs their handlers, keeps their leases and settles them.

`worker` is what a program starts. `dispatcher` is the one loop that claims and settles, `slots` run handlers, `heartbeat`
renews leases in a thread of its own, `maintenance` does for the queue what any worker may do, `patience` decides what a
failing store means. Handlers run in the event loop, or by `execution` in `threads` or processes (`isolation`);
`time_limits` ends them, and `failures` describes what they raised. `locks` and `supervisor` notice workers that died, and
`suspects` sees to it that the task which is to blame takes no other along. `start_rate` says how far ahead to claim.

lineage.py which process this is: the one that began, or a copy that a handler made with `fork` and forgot to end
"""
