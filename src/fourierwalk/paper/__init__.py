"""The paper's experiments; nothing outside of it but the commands imports from here."""
