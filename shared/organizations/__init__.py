"""Organizations, their people and keys: roles, and the acts that the edge and the command line both perform."""
