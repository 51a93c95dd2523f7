"""What people can ask for, in which ways they ask, and how it is carried out."""
