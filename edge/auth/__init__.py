"""Who is calling: the form of credentials, the directory of those that are valid, the gate."""
