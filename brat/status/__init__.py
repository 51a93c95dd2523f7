"""Where everything stands, for people (screens) and for programs (documents)."""
