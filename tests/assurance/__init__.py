"""Programs that judge the product beside the tests: each compares, attacks, breaks or measures it whole."""
