"""What texts are made of, and what their words say."""
