"""Which embedding spaces are served and built, and how the index is kept where SQL is."""
