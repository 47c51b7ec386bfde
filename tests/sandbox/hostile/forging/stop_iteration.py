# what: raises StopIteration, which ends a map() in the tests early, as if all had passed
# problem: mapped
# verdict: runtime_error|wrong
def double(x):
    raise StopIteration
