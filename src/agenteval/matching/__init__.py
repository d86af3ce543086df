"""Matchers of test authors: selectors, patterns, JSON Schemas, alignments, messages sent."""
