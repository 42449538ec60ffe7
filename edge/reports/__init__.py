"""The heavy GETs: parameters, fingerprint, and then the stored result or a job that computes it."""
