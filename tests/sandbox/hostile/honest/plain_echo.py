# what: the plain answer
# mode: stdio
# problem: echo
# verdict: passed
n = int(input())
print(sum(map(int, input().split())))
