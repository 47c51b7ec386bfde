# what: makes the function a bound method of an instance
# problem: double
# verdict: passed
class Solution:
    factor = 2

    def double(self, x):
        return self.factor * x


double = Solution().double
