"""The forge's records, one file a subject, and how GitHub's API writes them.

A record is a frozen struct: it is replaced, never changed, and written through by
`record_store.Store`. Ids are unique over the whole forge; times are ISO 8601 in UTC.
Commits, branches and files are no records: they are read from the bare repositories.
"""
