# what: needs forty megabytes and two thousand files, as the first program of a container could have
# verdict: passed
import os
import tempfile

with tempfile.TemporaryDirectory() as folder:
    for place in range(2):
        with open(os.path.join(folder, f"large-{place}"), "wb") as file:
            for _ in range(20):
                file.write(bytes(1 << 20))
    for place in range(2000):
        os.close(os.open(os.path.join(folder, str(place)), os.O_CREAT | os.O_WRONLY))


def double(x):
    return 2 * x
