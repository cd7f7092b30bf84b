"""Is a confidence worth its number: calibration, nearly certain verdicts, thresholds, rescaling."""
