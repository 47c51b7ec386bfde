# what: evaluates a hundred thousand parentheses
# problem: double
# verdict: runtime_error|out_of_memory
def double(x):
    return eval("(" * 100_000 + ")" * 100_000)
