"""The choices: where to compute, which path, who waits; one decision core, events in, effects out.

Five words carry the design.  An **event** is something that happened (a measurement arrived, a flow
was requested, a switch answered); :mod:`adon.broker.events` lists them all.  The **broker** takes one
event at a time and returns **effects** (:mod:`adon.broker.effects`): rules to send, records to save,
answers to give.  It never carries one out.  A **flow** has a life, written as a table in
:mod:`adon.broker.flow`.  A **decision** is the record of a choice with everything it was based on.
"""
