"""Commands that run until they are stopped: the site, workers, data planes and downloaders.

dataplane.py  `kurabito dataplane`: the process that touches the disks
demo.py       `kurabito demo`: the whole product on made-up data
downloader.py `kurabito downloader`: a download client as a service of the core
startup.py    no search for garbage while a process loads
serve.py      `kurabito serve`: the product
worker.py     `kurabito worker`: run the tasks of a queue
"""
