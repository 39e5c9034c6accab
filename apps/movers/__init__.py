"""The process that has tools move data: starts them, follows them, starts them again.

==============  ===========================================================
``__main__``    starts it
``mover``       the loop: flows in, deeds out, reports to the controller
``messages``    what comes to it
``carrying``    what a transfer needs of its tool: planned, asked for, what came of it
``limits``      what each tool is held to
``reporting``   what the controller is told
``post``        letters to the owners
``seeing``      flows as the state database has them
``book``        the database of its own, which the web side reads
``tool``        what every tool can do; ``tools`` makes those of the configuration
``rclone``      what is said to an rclone, and what it answers
``globus``      tasks at Globus; ``globus_login`` who speaks for us there
``irods``       runs of our own; ``irods_run`` one, ``irods_zone`` what is asked of the zone, with
                ``checksums`` and ``throttle``
==============  ===========================================================

What is to be done when is decided in :mod:`adon.transfers`.
"""
