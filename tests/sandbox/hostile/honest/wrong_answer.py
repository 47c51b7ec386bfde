# what: is honestly wrong
# verdict: wrong
def double(x):
    return x + 2
