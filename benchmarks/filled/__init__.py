"""A store as a campus has it after a month: 10 000 flows, 1 000 000 values, and all that goes with them.

:mod:`.campus` is its network, :mod:`.lives` has the real broker live some hundred flows, :mod:`.copies` makes
a month of them, :mod:`.archive` is what was measured meanwhile, :mod:`.people` who was there, and
:mod:`.filling` puts all of it into a folder that ``adon serve`` could be started on.
"""
