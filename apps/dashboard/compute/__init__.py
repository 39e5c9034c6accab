"""Where data is computed: sites, jobs there, and what is kept for whom."""
