"""Groundedness: whether the sources support an output. By rules, without a model.

`claims` splits an output, `facts` extracts the hard facts of a text (with `links`, `text.numbers` and `text.dates`).
`sources` reads tool results into passages, `corpus` indexes them, `stems` makes words comparable. `support` compares each
claim with the passages: `objects` finds the objects of a list that it names, `fields`, `prose` and `outcomes` find contradictions.
`citations` judges references, `marking` shows in a claim what is wrong.
"""
