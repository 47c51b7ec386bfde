# what: is honestly wrong: prints in place of returning
# problem: double
# verdict: wrong
def double(x):
    print(2 * x if abs(x) < 1000 else x)
