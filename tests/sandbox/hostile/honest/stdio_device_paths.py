# what: reads and writes by the paths of the standard streams
# mode: outside
# problem: echo
# verdict: passed
words = open("/dev/stdin").read().split()
print(sum(int(word) for word in words[1:]), file=open("/dev/stdout", "w"))
