# what: raises GeneratorExit while it is loaded
# problem: double
# verdict: runtime_error
raise GeneratorExit("done")
