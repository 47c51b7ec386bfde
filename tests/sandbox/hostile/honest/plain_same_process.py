# what: the plain answer beside its tests
# mode: shared
# problem: listy
# verdict: passed
def evens(xs):
    return [number for number in xs if number % 2 == 0]
