"""Tables as people have them: words, categories, dates and missing values become columns of numbers."""
