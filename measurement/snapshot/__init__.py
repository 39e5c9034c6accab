"""The network between some instances at one time, as placement needs it ([CHOREO] 2.2 and 3)."""
