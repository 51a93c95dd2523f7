"""Hooks of a repository that is pushed to."""

from pathlib import Path


def hook(repo: Path, name: str, text: str) -> None:
    path = repo / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
