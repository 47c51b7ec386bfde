# what: gives its files impossible times and tries to give them away; answers right if that is refused
# problem: double
# verdict: passed
import os

reached = []
open("odd", "w").close()
for stamp in (-(2**33), 2**33, 2**62):
    try:
        os.utime("odd", (stamp, stamp))
    except (OSError, OverflowError):
        pass
for owner in (0, 1, os.getuid() + 1):
    try:
        os.chown("odd", owner, -1)
        reached.append(f"owner {owner}")
    except OSError:
        pass
    try:
        os.chown("odd", -1, owner)
        reached.append(f"group {owner}")
    except OSError:
        pass


def double(x):
    if reached:
        raise RuntimeError("reached: " + ", ".join(reached))
    return 2 * x
