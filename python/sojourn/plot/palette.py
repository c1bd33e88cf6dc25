"""Colours of all pictures and pages."""

# Okabe & Ito 2008: colours that people of any colour vision tell apart. Yellow is left out, for it
# vanishes on white, and black, which vanishes in dark mode.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
