# what: returns a list of ten million numbers
# problem: listy
# verdict: wrong|runtime_error|out_of_memory|timeout|output_limit
def evens(xs):
    return [0] * 10_000_000
