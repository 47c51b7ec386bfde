# what: the plain answer
# mode: outside
# problem: echo
# verdict: passed
n = int(input())
print(sum(map(int, input().split())))
