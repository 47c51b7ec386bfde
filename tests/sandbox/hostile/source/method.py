# what: the function as a method of a class, as other contests want it
# problem: double
# verdict: runtime_error
class Solution:
    def double(self, x):
        return 2 * x
