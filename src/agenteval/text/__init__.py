"""Parts of texts, their words, and values in them."""
