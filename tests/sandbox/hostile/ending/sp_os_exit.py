# what: ends the common process with status 0 before the tests, having said that it passed
# mode: shared
# verdict: runtime_error
import os

print("passed", flush=True)
os._exit(0)
