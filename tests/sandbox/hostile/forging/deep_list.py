# what: returns a list nested a hundred thousand deep
# problem: listy
# verdict: wrong|runtime_error
def evens(xs):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
