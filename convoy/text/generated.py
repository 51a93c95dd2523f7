"""A page of docs/ with a part that a program makes, between two marks."""


def remade(page: str, begin: str, end: str, part: str) -> str:
    """Return the page with what stands between its two marks made anew.

    Args:
        page: the whole text.
        begin: the line before the part, with its newline.
        end: the line after it, with its newline.
        part: what goes between them, with its newline.

    Raises:
        ValueError: a mark is missing.
    """
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"the page has no {begin.strip()} … {end.strip()}")
    return f"{before}{begin}\n{part}\n{end}{after}"
