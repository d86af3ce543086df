"""What authors match with: selectors, patterns, JSON Schemas, alignments, differences."""
