"""From paths to tests that are ready to judge."""
