# what: lets children print without end, while the program answers right
# verdict: output_limit
import os

told, tells = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        for _ in range(40):
            os.write(1, bytes(65536))
        os.write(tells, b"x")
        while True:
            os.write(1, bytes(65536))
os.read(told, 1)


def double(x):
    return 2 * x
