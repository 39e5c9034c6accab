"""What the tasks of an application send each other ([CHOREO] 2.1)."""
