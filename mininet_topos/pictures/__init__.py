"""Pictures of test networks, drawn from their descriptions.

A description becomes a :mod:`~mininet_topos.pictures.sketch` (what is drawn), which gets an arrangement
(where: :mod:`~mininet_topos.pictures.arrangement`), which becomes SVG (:mod:`~mininet_topos.pictures.svg`)
or PNG (:mod:`~mininet_topos.pictures.files`).  Equal descriptions give equal pictures.
"""
