"""How much work nel does for one sample, as counts that no machine and no load changes, and a budget for it."""
