"""Files of any form as batches of text columns: CSV, JSON, XML, sheets, Parquet; plain, packed, or in an archive."""
