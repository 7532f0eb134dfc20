"""The product's parts over one open queue: one module for each domain, which makes its objects and joins them.

attention.py         what each part of the product adds to the list of attention
attention_sources.py what disks, downloads, metadata and notifications add to the list of attention
downloads.py         downloads over one open queue: what is taken, who fetches it, and how far it is
feeds.py             feeds, services and the way out, over one open queue
fixes.py             what the buttons of *Home* do themselves
library.py           the library's parts over one open queue
metadata.py          everything about metadata over one open queue
notifications.py     notifications over one open queue
thumbnails.py        the parts of thumbnails over one open database
"""
