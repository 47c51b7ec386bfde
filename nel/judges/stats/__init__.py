"""Statistics over finished verdicts: agreement, alpha, position bias, calibration. Decides no verdict."""
