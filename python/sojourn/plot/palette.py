"""Colours of all figures and pages."""

# Okabe & Ito 2008: colours that remain distinct with any colour vision. Yellow is omitted because
# it is faint on white, black because it is invisible in dark mode.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

IDLE = "#7a7a7a"
"""Of idle lines: no setting has it, and it stands out from light and dark ground."""
