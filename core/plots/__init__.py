"""One module per page: a result in, a figure out, built on `core.plots.base`."""
