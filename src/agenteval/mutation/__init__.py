"""Mutation testing of recordings: a trace is changed on purpose, one realistic regression at a time, to see which
assertions notice (`agenteval mutate`).

operators say what can go wrong, equivalence says which changes are none, engine judges, remedies says what to add.
"""
