"""What is in films and sound of the libraries: how long they are, and which tracks they have.

facts.py    what is known of one file; what a data plane wrote is not believed unseen
store.py    what is stored, and what is still to be read
readings.py the task that has data planes read it after a scan, a few files at a time
"""
