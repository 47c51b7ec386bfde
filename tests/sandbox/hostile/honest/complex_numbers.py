# what: returns complex numbers without imaginary part, which equal integers
# problem: double
# verdict: passed
def double(x):
    return complex(2 * x) if abs(x) < 1000 else 2 * x
