"""The prior price of a price reduction (Directive 98/6/EC Art. 6a)."""
