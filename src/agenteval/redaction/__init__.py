"""What is sensitive: finding it, hiding it, and the one door out."""
