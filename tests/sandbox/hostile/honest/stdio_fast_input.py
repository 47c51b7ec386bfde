# what: reads and writes bytes past the text streams, as contestants do, and leaves without a line end
# mode: outside
# problem: echo
# verdict: passed
import sys

data = sys.stdin.buffer.read().split()
sys.stdout.buffer.write(str(sum(map(int, data[1:]))).encode())
