"""A recorded run drafted as a test: found, cleaned, given assertions that it passes, tried out, written."""
