# what: ends with the builtin exit
# mode: stdio
# problem: echo
# verdict: passed
input()
print(sum(map(int, input().split())))
exit()
