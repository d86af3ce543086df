"""Documentation and JSON Schemas, generated from the classes."""
