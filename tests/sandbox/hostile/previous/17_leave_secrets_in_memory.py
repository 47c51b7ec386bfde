# what: leaves a text in memory, in pipes and in the names of threads
# problem: double
# verdict: wrong
import os
import threading
import time

words = ["left-in-memory-" + str(5_550_000_000 + place) for place in range(200_000)]
ends = os.pipe()
os.write(ends[1], words[0].encode())
threading.Thread(target=time.sleep, args=(60,), name=words[0], daemon=True).start()
print(words[0], flush=True)


def double(x):
    return None
