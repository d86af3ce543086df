"""Drafts a recorded run as a test."""
