"""The settings of every process, declared once, and the checks that refuse unusable ones."""
