"""GS1 Digital Link: addresses that stand in 2D codes on articles lead to records."""
