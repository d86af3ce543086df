"""Documentation and JSON Schemas, told from the classes."""
