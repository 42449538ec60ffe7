"""The datasets of releases and exports: their columns, declared once, and the Arrow types of these."""
