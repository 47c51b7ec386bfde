# what: leaves daemons that lock files which all programs can open
# problem: double
# verdict: wrong
import fcntl
import os
import sys
import time

if os.fork() == 0:
    os.setsid()
    held = []
    for path in ("/etc/passwd", "/etc/hostname", "/usr/bin/env", sys.executable, os.__file__, "/dev/null", "/tmp"):
        try:
            handle = os.open(path, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(handle)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError:
            pass
    time.sleep(3600)
    os._exit(0)
time.sleep(0.2)


def double(x):
    return None
