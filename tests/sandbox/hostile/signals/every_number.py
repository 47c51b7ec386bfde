# what: sends signals to every number a process could have, listed or not
# probe: yes
import os

reached = []
for pid in range(1, 40_000):
    if pid != os.getpid():
        try:
            os.kill(pid, 0)
            reached.append(pid)
        except OSError:
            pass
