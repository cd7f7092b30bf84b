"""The parts of the Calibration page, one module a tab."""
