"""Measurements as JSON, for the messages between processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from measurement.model import Measurement, Metric, Observation, PathKey


def key_to_json(key: PathKey) -> dict[str, str]:
    """A directed path as an object."""
    return {"path": key.path, "source": key.source, "destination": key.destination}


def key_from_json(data: Mapping[str, Any]) -> PathKey:
    """The inverse of :func:`key_to_json`.

    :raises ValueError: naming what is missing.
    """
    try:
        return PathKey(str(data["path"]), str(data["source"]), str(data["destination"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"key: {error} is missing") from None


def to_json(measurement: Measurement) -> dict[str, Any]:
    """A measurement as an object; units as in :mod:`measurement.model`."""
    return {
        "key": key_to_json(measurement.key),
        "metric": measurement.metric.value,
        "value": measurement.value,
        "started_at": measurement.started_at,
        "observed_at": measurement.observed_at,
        "source": measurement.source,
        "tool": measurement.tool,
        "parameters": dict(measurement.parameters),
    }


def from_json(data: Mapping[str, Any]) -> Measurement:
    """The inverse of :func:`to_json`.

    :raises ValueError: for a missing field, an unknown metric, or a value no network can have.
    """
    try:
        return Measurement(
            key_from_json(data["key"]),
            Metric(data["metric"]),
            float(data["value"]),
            float(data["started_at"]),
            float(data["observed_at"]),
            str(data["source"]),
            str(data.get("tool", "")),
            dict(data.get("parameters", {})),
        )
    except KeyError as error:
        raise ValueError(f"{error.args[0]}: is missing") from None
    except TypeError as error:
        raise ValueError(f"not a measurement: {error}") from None


def observation_to_json(observation: Observation) -> dict[str, Any]:
    """An observation as an object."""
    return {
        "key": key_to_json(observation.key),
        "metric": observation.metric,
        "value": observation.value,
        "observed_at": observation.observed_at,
        "source": observation.source,
        "tool": observation.tool,
        "parameters": dict(observation.parameters),
    }


def observation_from_json(data: Mapping[str, Any]) -> Observation:
    """The inverse of :func:`observation_to_json`.

    :raises ValueError: for a missing field, the name of a network metric, or a value that is no number.
    """
    try:
        return Observation(
            key_from_json(data["key"]),
            str(data["metric"]),
            float(data["value"]),
            float(data["observed_at"]),
            str(data["source"]),
            str(data.get("tool", "")),
            dict(data.get("parameters", {})),
        )
    except KeyError as error:
        raise ValueError(f"{error.args[0]}: is missing") from None
    except TypeError as error:
        raise ValueError(f"not an observation: {error}") from None
