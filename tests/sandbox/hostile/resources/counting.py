# what: an honest loop that ends for small numbers and not for large ones
# problem: double
# verdict: timeout
def double(x):
    total = 0
    for _ in range(abs(x)):
        total += 2
    return total if x >= 0 else -total
