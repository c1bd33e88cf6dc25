"""The live page of `sojourn lab`: a home to play with, answered while a slider moves.

A page sends its choices; `wish` makes a scenario of them, `bench` runs it as long as somebody
waits for it, `answer` and `picture` say what is to be drawn. The server is in `server`, who may
talk to it in `guard`, and what there is to choose from in `catalog.toml` and the scenario's JSON
Schema.
"""
