"""GTINs in all their forms: read, checked, and written as the one number of 14 digits."""
