"""The documentation site: generated pages, figures, and the sources that Zensical builds from.

`make docs` builds the site into out/site, `make figures` draws the committed figures.
"""
