"""Statistics of finished verdicts: agreement, alpha, position bias, calibration."""
