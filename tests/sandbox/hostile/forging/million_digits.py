# what: returns a number of a million digits, which no error message may try to print
# problem: double
# verdict: wrong|runtime_error
def double(x):
    return 1 << 3_321_928
