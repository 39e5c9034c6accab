"""Where an application's tasks run, so that their transfers are over soonest ([CHOREO] 5 and appendix).

[CHOREO] is K. LaCurts, S. Deng, A. Goyal and H. Balakrishnan, "Choreo: network-aware task placement for cloud
applications", IMC 2013.  See docs/placement.md.
"""
