"""The records that a run keeps of its results, and the one function that sums them up."""
