"""Assertion types and adapters from elsewhere: finding them, checking them, one lookup with the built-in ones."""
