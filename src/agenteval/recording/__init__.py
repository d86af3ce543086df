"""A recorded run drafted as a test."""
