"""Our estimators against their peers, on any data set; nothing outside of it but the commands imports from here."""
