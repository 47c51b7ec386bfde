# what: returns a generator without end where the tests go through it
# problem: unordered
# verdict: timeout|out_of_memory|wrong|runtime_error
def distinct(xs):
    while True:
        yield 1
