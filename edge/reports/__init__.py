"""The heavy GETs: parameters, fingerprint, and then the result that is there or a job that makes it."""
