# what: fills /dev/shm
# verdict: runtime_error|out_of_memory
import os


def double(x):
    for place in range(1000):
        with open(f"/dev/shm/{place}-{os.getpid()}", "wb") as file:
            for _ in range(16):
                file.write(bytes(1 << 20))
