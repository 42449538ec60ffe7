"""The drill: a stack of its own, work of known outcome, and somebody who kills its processes at random."""
