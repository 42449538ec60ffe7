"""How answers round, each way declared once; `meta.rounding` names the fields that it is true of. Pure."""

DOUBLE = "to the nearest IEEE 754 double: a number of up to 15 significant digits comes out as it was loaded"
SIX_DECIMALS = "half-even to 6 decimals"
FOUR_DECIMALS = "half-even to 4 decimals"
NINE_DIGITS = "half-even to 9 significant digits"
