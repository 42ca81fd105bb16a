"""Model files, as JSON and arrays, and output files that are complete or not there."""
