"""The catalogue of mutation operators: one class for each way in which an agent's behaviour gets worse."""
