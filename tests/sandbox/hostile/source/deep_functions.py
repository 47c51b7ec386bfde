# what: functions nested a hundred deep within functions
# problem: double
# verdict: runtime_error|syntax_error
# build: yes
SOURCE = "".join(" " * place + f"def f{place}():\n" for place in range(99)) + " " * 99 + "return " + "(" * 50 + "1" + ")" * 50 + "\n"
