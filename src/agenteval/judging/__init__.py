"""From a trace to a result, and from results to totals."""
