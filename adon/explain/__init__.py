"""Questions about decisions, answered by the broker itself.

- :mod:`~adon.explain.event_player`: the executor of effects in memory, for everything except a real network.
- :mod:`~adon.explain.backtest`: what another version of a template would have done in the past.

This package imports :mod:`adon.broker`, never the reverse.
"""
