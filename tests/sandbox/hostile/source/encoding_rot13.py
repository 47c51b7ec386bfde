# what: declares an encoding in which its text would be another program
# problem: double
# verdict: passed|syntax_error
# build: yes
SOURCE = "# coding: rot13\ndef double(x):\n    return 2 * x\n"
