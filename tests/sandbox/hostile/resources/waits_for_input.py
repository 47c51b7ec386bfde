# what: reads standard input, which is empty for a function
# verdict: runtime_error
def double(x):
    return int(input("number: "))
