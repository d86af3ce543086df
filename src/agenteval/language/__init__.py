"""What sentences say, as far as words tell: questions, facts to remember, claims of success, leaks."""
