"""The catalogue of mutation operators: one function for each way in which an agent's behaviour gets worse."""
