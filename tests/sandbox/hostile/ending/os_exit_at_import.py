# what: ends its process with status 0 past every handler
# verdict: runtime_error
import os

os._exit(0)
