# what: changes what a fork of the same interpreter would inherit: modules, builtins, limits, environment, signals
# verdict: wrong
import builtins
import json
import os
import random
import signal
import sys
import threading

builtins.nel_left = True
json.dumps = None
os.environ["NEL_LEFT"] = "1"
random.seed(0)
sys.path.insert(0, "/tmp/nel-left")
sys.setrecursionlimit(77_777)
sys.modules["nel_left"] = sys
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
threading.stack_size(1 << 26)
os.nice(5)


def double(x):
    return None
