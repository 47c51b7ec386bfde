# what: replaces the hook for uncaught exceptions by an exit with status 0
# problem: double
# verdict: runtime_error
import os
import sys

sys.excepthook = lambda *_: os._exit(0)
sys.unraisablehook = lambda *_: os._exit(0)


def double(x):
    raise ValueError("uncaught")
