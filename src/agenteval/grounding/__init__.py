"""Whether what an output says is in its sources: hard facts, contradictions, wording, citations. By rules, without a model.

`claims` takes an output apart, `facts` says what a text states (`links` and, of texts in general, `text.numbers` and
`text.dates`). `sources` reads what tools returned into passages, `corpus` answers which words and facts they have, `stems`
makes them comparable. `support` holds a claim against them: `objects` tells which objects of a list it names, and `fields`
what says otherwise. `citations` judges references, `marking` shows what is wrong.
"""
