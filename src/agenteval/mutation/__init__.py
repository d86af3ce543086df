"""Mutation testing of recordings: a trace is changed on purpose, one realistic regression at a time, to see which
assertions notice (`agenteval mutate`).

operators make the changes, equivalence recognises harmless ones, verdicts asks the assertions, engine counts, remedies
suggests assertions.
"""
