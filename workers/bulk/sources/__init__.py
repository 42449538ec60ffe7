"""Where rows come from: one snapshot of the database, or the files of a release."""
