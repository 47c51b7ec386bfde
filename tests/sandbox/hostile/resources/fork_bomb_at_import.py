# what: forks while it is loaded, every child in a session of its own
# problem: double
# verdict: runtime_error|timeout|out_of_memory
import os

while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
