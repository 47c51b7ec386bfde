# what: raises MemoryError without having used any
# problem: double
# verdict: out_of_memory|runtime_error
def double(x):
    raise MemoryError
