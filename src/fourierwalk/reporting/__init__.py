"""What commands write: files, provenance, figures, pages."""
