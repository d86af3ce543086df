"""Reporters: renderings of results. They judge nothing and count nothing."""
