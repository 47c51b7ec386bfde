# what: sends SIGKILL to each process of others; answers right if every one is refused
# probe: yes
import os
import signal

reached = []
for entry in os.listdir("/proc"):
    if entry.isdigit() and int(entry) != os.getpid():
        for number in (signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(int(entry), number)
                reached.append(f"{number} to {entry}")
            except OSError:
                pass
