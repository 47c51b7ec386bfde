# what: looks everywhere for the files of the program before, and imports the modules they shadow
# probe: yes
import builtins
import os
import statistics


def left():
    for place in (".", "/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", os.environ.get("HOME", "/tmp")):
        for folder, folders, names in os.walk(place):
            for name in folders + names:
                if "nel-left" in name or name in ("statistics.py", "usercustomize.py", "x.pth"):
                    yield os.path.join(folder, name)
    if hasattr(builtins, "nel_left") or hasattr(statistics, "NEL_LEFT"):
        yield "a shadowing module was imported"


reached = list(left())
