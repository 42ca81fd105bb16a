"""What programs write: files, provenance, figures, pages."""
