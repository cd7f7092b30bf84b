"""The parts of the Position bias page, one module a section or tab."""
