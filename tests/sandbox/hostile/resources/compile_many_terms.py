# what: compiles an expression of three million terms
# problem: double
# verdict: out_of_memory|runtime_error|timeout
def double(x):
    return eval("+".join(["x"] * 3_000_000))
