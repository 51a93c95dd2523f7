from auth.audit import line


def test_an_entry_says_when_what_and_who() -> None:
    assert line("login", user="ada", now=0) == "1970-01-01T00:00:00+00:00 login user=ada\n"


def test_a_name_with_a_line_break_makes_no_second_entry() -> None:
    entry = line("login", user="ada\n1970-01-01T00:00:00+00:00 grant user=eve", now=0)

    assert len(entry.splitlines()) == 1
