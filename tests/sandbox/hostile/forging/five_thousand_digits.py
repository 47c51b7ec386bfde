# what: returns a wrong number just beyond the interpreter's limit for printing
# problem: composed
# verdict: wrong
def double(x):
    return 10**5000
