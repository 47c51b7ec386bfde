# what: reads standard input, which is empty for a function
# problem: double
# verdict: runtime_error
def double(x):
    return int(input("number: "))
