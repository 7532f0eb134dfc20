"""The conformance kit for external workers: a real server, a gateway before it that sees and bends every word, and a worker.

    kit.py        plays scenarios and gathers the outcome of each rule
    server.py     a Kurabito server in a temporary state, which is restarted
    gateway.py    stands between worker and server: notes each exchange, and delays, drops or changes what a scenario says
    exchanges.py  what went through the gateway
    stage.py      tasks for the worker, its process, and what a scenario found
    scenarios/    what happens to a worker, and what it has to do then

A scenario says which rules it looks at, and notes the evidence for each one that was broken.
"""
