"""What the broker keeps beside the catalog: proposals to change a template, until somebody decides on them.

What is proposed was worked out elsewhere (:mod:`adon.templates_catalog.learning`); here it gets its number,
and an accepted one becomes the next template version by the same event, or neither happens.
"""
