"""Whether what an output says is in its sources: hard facts, wording, citations. By rules, without a model.

`quantities` and `links` read numbers, dates and references out of a text; `wording` reads names, quotes and
content words; `sources` is what the tools returned; `claims` and `citations` judge an output against it.
"""
