"""The parts of the Collect page."""
