# what: reads until the end of the input, by an exception
# mode: outside
# problem: echo
# verdict: passed
words = []
while True:
    try:
        words += input().split()
    except EOFError:
        break
print(sum(map(int, words[1:])))
