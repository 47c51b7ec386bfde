# what: ends with the builtin exit
# mode: outside
# problem: echo
# verdict: passed
input()
print(sum(map(int, input().split())))
exit()
