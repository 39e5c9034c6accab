"""Learning the catalog: what flows met and what they then got, made into lookup tables and weights.

[ADON] 3.1 and 3.3: the catalog "will later be tuned upon growing knowledge base".  The story in order:
:mod:`.samples` says which outcomes can be learnt from and what they are judged by; :mod:`.fitting` makes a
monotone table of each metric and a weight of how far it moves the outcome; :mod:`.judging` holds what
was learnt against today's scoring on outcomes that neither was fitted to; :mod:`.learn` proposes, or says
why not.

numpy and scipy are used here.  The controller never imports this package: what it keeps are the values of
:mod:`adon.templates_catalog.proposal`.
"""
