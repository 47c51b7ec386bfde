# what: returns a list that holds itself
# problem: listy
# verdict: wrong|runtime_error
def evens(xs):
    cycle = [2]
    cycle.append(cycle)
    return cycle
