# what: runs for ever
# problem: double
# verdict: timeout
def double(x):
    while True:
        pass
