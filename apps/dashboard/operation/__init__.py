"""Running it: switches, rules, the parts of ADON, who may do what, and what was done."""
