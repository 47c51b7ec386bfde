# what: opens files until none is left
# problem: double
# verdict: runtime_error
def double(x):
    kept = []
    while True:
        kept.append(open("/dev/null"))
