"""What sentences say, judged by their words: questions, facts to remember, claims of success, leaks."""
