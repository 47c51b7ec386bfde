"""Statistics of finished verdicts: agreement, alpha, position bias, calibration. None of it decides
a verdict.
"""
