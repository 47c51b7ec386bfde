# what: is honestly wrong: text in place of a number
# problem: double
# verdict: wrong
def double(x):
    return str(x) + str(x) if abs(x) < 1000 else x
