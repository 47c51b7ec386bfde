# what: frees a chain of ten million objects
# problem: listy
# verdict: runtime_error|out_of_memory|timeout|wrong
def evens(xs):
    value = None
    for _ in range(10_000_000):
        value = (value,)
    del value
    return [0]
