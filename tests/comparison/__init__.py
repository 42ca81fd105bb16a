"""In a package of their own: tests of the paper have files of the same names."""
