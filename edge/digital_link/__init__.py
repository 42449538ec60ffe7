"""GS1 Digital Link: addresses in 2D codes on articles lead to records."""
