"""The async tier: who are you, may you, here it is."""
