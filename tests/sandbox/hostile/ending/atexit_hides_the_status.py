# what: raises, and has a handler that turns the end into status 0
# verdict: runtime_error
import atexit
import os

atexit.register(os._exit, 0)
raise RuntimeError("the handler makes it a success")
