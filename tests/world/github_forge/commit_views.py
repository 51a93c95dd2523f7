"""Commits, refs, branches, files and diffs as GitHub writes them, read from git."""

from base64 import encodebytes
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pygit2
from pygit2.enums import DeltaStatus

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.wire import Site, node_id

_STATUS = {
    DeltaStatus.ADDED: "added",
    DeltaStatus.DELETED: "removed",
    DeltaStatus.RENAMED: "renamed",
    DeltaStatus.COPIED: "copied",
    DeltaStatus.TYPECHANGE: "changed",
}


def ref(
    site: Site, repo: Repository, name: str, found: tuple[str, str]
) -> dict[str, Any]:
    """A ref; `found` are the kind and the id of what it points at."""
    kind, sha = found
    api = f"{site.repo(repo.full_name)}/git"
    return {
        "ref": name,
        "node_id": node_id("Ref", f"{repo.id}:{name}"),
        "url": f"{api}/{quote(name)}",
        "object": {"type": kind, "sha": sha, "url": f"{api}/{kind}s/{sha}"},
    }


def content(
    site: Site, repo: Repository, where: tuple[str, str], blob: pygit2.Blob
) -> dict[str, Any]:
    """A file; `where` are its path and the revision that was asked for."""
    path, revision = where
    api = f"{site.repo(repo.full_name)}/contents/{quote(path)}?ref={quote(revision)}"
    git = f"{site.repo(repo.full_name)}/git/blobs/{blob.id}"
    page = site.page(repo.full_name, "blob", quote(revision), quote(path))
    return {
        "type": "file",
        "encoding": "base64",
        "size": blob.size,
        "name": path.rpartition("/")[2],
        "path": path,
        "content": encodebytes(blob.data).decode(),
        "sha": str(blob.id),
        "url": api,
        "git_url": git,
        "html_url": page,
        "download_url": None,
        "_links": {"self": api, "git": git, "html": page},
    }


def files(
    site: Site, repo: Repository, diff: pygit2.Diff, head: str
) -> Iterator[dict[str, Any]]:
    """Yield the files that a diff touches; `head` is the commit it leads to."""
    for patch in diff:
        if patch is None:
            continue
        delta = patch.delta
        path = delta.new_file.path or delta.old_file.path
        _, added, removed = patch.line_stats
        shape = {
            "sha": str(delta.new_file.id),
            "filename": path,
            "status": _STATUS.get(delta.status, "modified"),
            "additions": added,
            "deletions": removed,
            "changes": added + removed,
            "blob_url": site.page(repo.full_name, "blob", head, quote(path)),
            "raw_url": site.page(repo.full_name, "raw", head, quote(path)),
            "contents_url": f"{site.repo(repo.full_name)}/contents/{quote(path)}"
            f"?ref={head}",
        }
        if not delta.is_binary:
            text = patch.text or ""
            shape["patch"] = text[text.find("@@") :] if "@@" in text else ""
        if delta.status == DeltaStatus.RENAMED:
            shape["previous_filename"] = delta.old_file.path
        yield shape
