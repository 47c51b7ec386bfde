# what: spins in the common process with every signal ignored
# mode: shared
# verdict: timeout
import signal

for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def double(x):
    while True:
        pass
