"""The composition root: the one place where ports meet adapters.

    state.py                   the folder of everything that is kept, and the lock that says which process has it
    database.py                made ready before it is used: backed up, then migrated
    compose/                   the product's parts, one module for each domain
    product.py                 all of them together, as the site asks them
    tasks.py                   every task of the product, and which follows which
    routes.py, pages.py        the routes of the API and of the pages, each with the parts that it asks
    site.py                    what answers HTTP
    listener.py                where the server listens, and who may connect there
    server.py                  a web server and the services that run beside it
    serve.py                   `kurabito serve`: all of it until it is told to stop
    dataplane_process.py       the data plane as a process that is kept alive
    built_in_downloader.py     the downloader inside `serve`
    downloader.py              a downloader service, which is a program of its own
    troubles.py                which parts of this process do not work at the moment, and why

Nothing is imported here, so that a command loads only what it needs.
"""
