"""Free search: query language, engine over an immutable index, paging."""
