# what: crashes by the interpreter's own test function
# problem: double
# verdict: runtime_error
import faulthandler

faulthandler.enable()
faulthandler._sigsegv()
