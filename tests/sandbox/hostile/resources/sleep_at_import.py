# what: sleeps while it is loaded
# problem: double
# verdict: timeout
import time

time.sleep(3600)
