# what: sends itself SIGTERM while it is loaded
# problem: double
# verdict: runtime_error
import os
import signal

os.kill(os.getpid(), signal.SIGTERM)
