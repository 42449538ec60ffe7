"""The beginning of a file of any form as rows of text: one module for each form."""
