"""Changes in time series of measurements: detectors and alarms.

Pure: values in, values out; time and chance are arguments.  The algorithms, their sources and limits are in
docs/measurement-scheduling-and-anomalies.md.

=================  ============================================================================
``model``          what a detector finds; the protocol of all detectors
``live``           the detector that watches: sees no future, tells a shift from a wider spread
``threshold``      static limits, as the same protocol
``absence``        when silence is too long
``alarm``          an alarm as a value, and its JSON
``policy``         what is watched how, by metric
``watch``          many series: alarms raised, updated and cleared
=================  ============================================================================
"""
