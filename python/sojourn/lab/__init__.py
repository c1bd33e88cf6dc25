"""The live page of `sojourn lab`: a home to play with, answered while a slider moves.

A page sends its choices. `lab_request` makes a scenario of them, `job_pool` runs it as long as
somebody waits for it, `response` and `picture` say what the page draws. `server` is the server,
`guard` rejects requests from elsewhere, and `catalog.toml` and the scenario's JSON Schema hold what
there is to choose from.
"""
