"""Whether what an output says is in its sources: hard facts, wording, citations. By rules, without a model.

What a text states: `quantities` (each a `quantity`, with the help of `number_words`, `times`, `durations` and `measures`), `dates`, `weekdays`,
`crons`, `links`, and in `wording` names and quotes; `statements` puts them together, without the `apparatus`.

What the sources have: `sources` is what the tools returned, with `records`, `tables`, `objects` and `items` for JSON; `reading` finds what
stands in one of them, `source_text` and `source_numbers` answer for all of them, `passages` finds the nearest one.

The two beside each other: `claims` takes an output apart, and `support` judges a claim, by `known_numbers` (with
`counts` and `conversions`, and `siblings` and `timed_lines` for what a text tells of another thing) and `known_names`, the `overlap` of its
words, and what is said `otherwise`: `contradictions` (`denials`, `opposites`, `roles` and `comparisons` of `compared` texts),
`states`, `directions`, `changes`, `clauses`, `copies`, `exchanges`, `temperatures` and `rows`. In data also `labels` and `named_fields` (what
belongs to another field), `ways`, `inner`, `quantifiers` (all, none, only), `extremes` and `ranked` (by `orders` of values), and `subjects` where a claim
names several objects.
`citations` judges references, `marking` shows what is wrong, `effort` bounds the search.
"""
