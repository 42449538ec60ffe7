"""The document as it was last released, and what may not change against it (contract, section 10)."""
