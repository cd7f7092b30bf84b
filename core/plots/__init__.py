"""One module a page: a result in, a figure out, built on `core.plots.base`."""
