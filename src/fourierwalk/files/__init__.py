"""Files: tables that are read block by block, models as JSON and arrays, and outputs that are whole or not there."""
