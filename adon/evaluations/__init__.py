"""Built-in evaluations and published results (data); :mod:`adon.evaluation_file` reads them."""
