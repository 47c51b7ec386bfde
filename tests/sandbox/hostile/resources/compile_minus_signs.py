# what: evaluates a million minus signs, for which the parser recurses
# problem: double
# verdict: runtime_error|out_of_memory
def double(x):
    return eval("-" * 1_000_000 + "1")
