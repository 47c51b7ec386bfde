# what: a thread steals every second question from the channel
# verdict: wrong|runtime_error|timeout
import os
import stat
import threading


def steal():
    while True:
        for handle in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(handle).st_mode):
                    os.read(handle, 3)
            except OSError:
                pass


threading.Thread(target=steal, daemon=True).start()


def double(x):
    return x
