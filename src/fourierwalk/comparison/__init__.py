"""Our estimators against their peers, on any data set. Only commands and benchmarks import from here."""
