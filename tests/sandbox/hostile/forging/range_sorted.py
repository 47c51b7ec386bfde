# what: returns eight bytes of range that are terabytes when the tests sort it
# problem: unordered
# verdict: out_of_memory|wrong|runtime_error|timeout
def distinct(xs):
    return range(10**12)
