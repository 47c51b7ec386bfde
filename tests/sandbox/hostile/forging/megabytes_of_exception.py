# what: raises an exception of twenty megabytes with a chain of a thousand causes
# problem: double
# verdict: runtime_error|out_of_memory
def double(x):
    error = ValueError("x" * 20_000_000)
    for place in range(1_000):
        following = ValueError(place)
        following.__cause__ = error
        error = following
    raise error
