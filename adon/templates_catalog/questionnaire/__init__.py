"""A survey of an application's people becomes the draft of its template ([ADON] 4.1).

The thesis's group met the researchers and asked; what they answered became QSpec and RSpec by hand.  Here the
questions are data (:mod:`.asking`), the answers a model (:mod:`.answers`), what words such as "little or no
loss" mean is one table (:mod:`.words`), and every number of the draft carries the reason it has
(:mod:`.drafting`), which is written beside it in the file (:mod:`.text`).  All of it is pure.
"""
