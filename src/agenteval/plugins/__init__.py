"""Assertion types, adapters and operators from elsewhere: finding them, checking them, one lookup with the built-in ones."""
