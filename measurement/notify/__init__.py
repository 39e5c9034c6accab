"""Alarms on their way to people and programs.

================  =================================================================================
``subscription``  who wants to hear of which alarms, and how; pure
``outbox``        what is to be sent when: digests, retries, nothing twice; pure
``message``       alarms as the text of a mail and as the document of a webhook; pure
``mail``          sends by SMTP
``webhook``       sends by HTTP, signed, to nowhere that it should not reach
``notifier``      the thread that keeps the outbox
================  =================================================================================

docs/measurement-scheduling-and-anomalies.md describes its use.
"""
