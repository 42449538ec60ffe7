"""An independent judge: every figure that the API answers, computed again from the source files by DuckDB."""
