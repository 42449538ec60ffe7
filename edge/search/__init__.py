"""Free search: the query language, the engine over an immutable index, and its pages."""
