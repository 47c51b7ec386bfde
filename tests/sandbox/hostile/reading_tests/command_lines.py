# what: looks for the tests in command lines and names of processes, and in its own environment
# probe: yes
import os
import re

MARKER = re.compile(rb"expected-side-(\d{10})|assert candidate")


def reached():
    for entry in os.listdir("/proc"):
        for name in ("cmdline", "comm", "status", "environ"):
            try:
                with open(f"/proc/{entry}/{name}", "rb") as file:
                    if entry.isdigit() and MARKER.search(file.read()):
                        yield f"/proc/{entry}/{name}"
            except OSError:
                pass
    for name, value in os.environb.items():
        if MARKER.search(value):
            yield repr(name)
