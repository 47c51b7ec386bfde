# what: becomes a new interpreter that does nothing, descriptors kept open
# problem: double
# verdict: runtime_error
import os
import sys


def double(x):
    for handle in range(3, 64):
        try:
            os.set_inheritable(handle, True)
        except OSError:
            pass
    os.execv(sys.executable or "/usr/bin/python3", ["python3", "-c", "pass"])
