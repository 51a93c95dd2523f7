"""Folders in which programs are still at work: files come and go while one looks."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def files(folder: Path) -> Iterator[Path]:
    """Give the files below `folder`; what goes meanwhile is left out."""
    for top, _, names in os.walk(folder):
        yield from (Path(top, name) for name in names)


def texts(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Give the content of each file below `folder`, of what is packed in it, too."""
    for file in files(folder):
        with suppress(FileNotFoundError):
            if not file.is_file():  # a socket or a pipe
                continue
            yield file, file.read_bytes()
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as archive:
                    for name in archive.namelist():
                        yield file, archive.read(name)
