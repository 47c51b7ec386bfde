# what: prints the right sum between bytes that are no text
# mode: outside
# problem: echo
# verdict: wrong
import sys

n = int(input())
total = sum(map(int, input().split()))
sys.stdout.buffer.write(b"\xff\xfe%d\n\x00\x80" % total)
