"""What people can ask for: the verb table, and how verbs are read and carried out."""
