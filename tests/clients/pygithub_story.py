"""A story told with PyGithub; prints as JSON what it saw.

`python pygithub_story.py API TOKEN OWNERS-TOKEN HOOK`: see tests/clients/told.py.
"""

import io
import json
import sys
import time
import zipfile
from typing import Any

import requests
from github import Auth, Github, GithubException
from github.Repository import Repository

LABEL = "needs/review now"
WAIT_S = 600
"""Never reached: whoever runs this ends it sooner."""
Seen = dict[str, Any]


def repository(api: str, token: str) -> Repository:
    """Return alice/app, in pages of one and without PyGithub's own pauses."""
    client = Github(
        auth=Auth.Token(token),
        base_url=api,
        per_page=1,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    return client.get_repo("alice/app")


def talk(repo: Repository) -> Seen:
    """Talk about an issue."""
    made = repo.create_label(LABEL, "0e8a16", "for people")
    same = repo.get_label(LABEL)
    repo.create_label("bug", "d73a4a")
    issue = repo.create_issue("Fix it", body="All of it", labels=["bug"])
    issue.add_to_labels(LABEL)
    both = [label.name for label in issue.get_labels()]
    listed = [one.number for one in repo.get_issues(labels=[LABEL], state="open")]
    issue.remove_from_labels(LABEL)
    comment = issue.create_comment("Good.")
    comment.edit("Better.")
    comment.create_reaction("eyes")
    gone = issue.create_comment("Never mind.")
    gone.delete()
    issue.create_comment("Done.")
    comments = [one.body for one in issue.get_comments()]
    issue.edit(state="closed", state_reason="not_planned")
    return {
        "label": [made.name, same.color, same.url == made.url],
        "labels": both,
        "labelled": [one == issue.number for one in listed],
        "unlabelled": [label.name for label in issue.get_labels()],
        "comments": comments,
        "reactions": [one.content for one in comment.get_reactions()],
        "issue": [issue.state, issue.state_reason],
    }


def merge(repo: Repository) -> Seen:
    """Open a pull request, point it elsewhere, judge it and merge it."""
    pull = repo.create_pull(base="main", head="topic", title="Change", draft=False)
    pull.edit(base="side")
    files = [[one.filename, one.status] for one in pull.get_files()]
    commit = repo.get_commit(pull.head.sha)
    check = repo.create_check_run("lint", commit.sha, status="in_progress")
    check.edit(conclusion="success", output={"title": "Fine", "summary": "All of it."})
    commit.create_status("success", context="deploy", description="Out.")
    try:
        pull.merge(sha="0" * 40)
        refused = 0
    except GithubException as error:
        refused = error.status
    merged = pull.merge(sha=commit.sha, merge_method="merge")
    again = repo.get_pull(pull.number)
    return {
        "base": again.base.ref,
        "files": files,
        "commits": [one.sha == commit.sha for one in pull.get_commits()],
        "checks": [
            [one.name, one.status, one.conclusion] for one in commit.get_check_runs()
        ],
        "status": [
            commit.get_combined_status().state,
            commit.get_statuses()[0].context,
        ],
        "refused": refused,
        "merged": [merged.merged, again.merged, again.is_merged()],
        "tip": repo.get_branch("side").commit.sha == merged.sha,
        "untouched": repo.get_branch("main").commit.sha != merged.sha,
    }


def run(repo: Repository) -> Seen:
    """Dispatch a workflow, wait for its run, and take its artifact."""
    workflow = repo.get_workflow("brat-task.yml")
    inputs = {"session": "fix-1/2/1", "log": "a" * 40, "nonce": "n0nce"}
    started = workflow.create_dispatch("main", inputs)
    (found,) = workflow.get_runs(event="workflow_dispatch", branch="main")
    while found.status != "completed":
        time.sleep(0.05)
        found = repo.get_workflow_run(found.id)
    (artifact,) = found.get_artifacts()
    # PyGithub fetches nothing from other hosts, and GitHub keeps artifacts at one.
    auth = repo.requester.auth
    assert auth is not None
    headers = {"Authorization": f"Bearer {auth.token}"}
    data = requests.get(artifact.archive_download_url, headers=headers, timeout=WAIT_S)
    with zipfile.ZipFile(io.BytesIO(data.content)) as zipped:
        return {
            "started": started,
            "run": [found.event, found.conclusion],
            "artifact": [artifact.name, "result.json" in zipped.namelist()],
        }


def hook(repo: Repository, url: str) -> Seen:
    """Make a webhook, look at what it was sent, and take it away."""
    made = repo.create_hook("web", {"url": url, "secret": "s"}, ["issues"])
    made.ping()
    while len(sent := list(repo.get_hook_deliveries(made.id))) < 2:
        time.sleep(0.05)
    same = repo.get_hook(made.id)
    made.delete()
    return {
        "sent": [[one.event, one.status_code] for one in sent],
        "hook": [same.active, same.events, len(list(repo.get_hooks()))],
    }


def main() -> None:
    """Tell the story."""
    api, token, owners, url = sys.argv[1:]
    repo = repository(api, token)
    seen: Seen = {"repository": [repo.full_name, repo.default_branch, repo.private]}
    for part in (talk, merge, run):
        seen |= part(repo)
    seen |= hook(repository(api, owners), url)
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main()
