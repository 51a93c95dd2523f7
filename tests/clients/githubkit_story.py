"""A story told with githubkit; prints as JSON what it saw.

githubkit reads each answer into the model that GitHub's description gives it.
`python githubkit_story.py API TOKEN OWNERS-TOKEN HOOK`: see tests/clients/told.py.
"""

import io
import json
import sys
import time
import zipfile
from typing import Any, Final

from githubkit import GitHub
from githubkit.exception import RequestFailed

LABEL = "needs/review now"
HERE = ("alice", "app")
VERSION: Final = "2022-11-28"
"""The one that the forge speaks."""
Seen = dict[str, Any]
Rest = Any


def talk(client: Rest) -> Seen:
    """Talk about an issue."""
    issues, reactions = client.issues, client.reactions
    made = issues.create_label(*HERE, name=LABEL, color="0e8a16").parsed_data
    same = issues.get_label(*HERE, LABEL).parsed_data
    issue = issues.create(*HERE, title="Fix it", labels=["bug"]).parsed_data
    here = (*HERE, issue.number)
    both = issues.add_labels(*here, labels=[LABEL]).parsed_data
    listed = issues.list_for_repo(*HERE, labels=LABEL).parsed_data
    left = issues.remove_label(*here, LABEL).parsed_data
    comment = issues.create_comment(*here, body="Good.").parsed_data
    issues.update_comment(*HERE, comment.id, body="Better.")
    reactions.create_for_issue_comment(*HERE, comment.id, content="eyes")
    given = reactions.list_for_issue_comment(*HERE, comment.id).parsed_data
    gone = issues.create_comment(*here, body="Never mind.").parsed_data
    issues.delete_comment(*HERE, gone.id)
    issues.create_comment(*here, body="Done.")
    pages = (issues.list_comments(*here, per_page=1, page=n) for n in (1, 2))
    comments = [one for page in pages for one in page.parsed_data]
    closed = issues.update(*here, state="closed", state_reason="not_planned")
    return {
        "label": [made.name, same.color, same.url == made.url],
        "labels": [label.name for label in both],
        "labelled": [one.number == issue.number for one in listed],
        "unlabelled": [label.name for label in left],
        "comments": [one.body for one in comments],
        "reactions": [one.content for one in given],
        "issue": [closed.parsed_data.state, closed.parsed_data.state_reason],
    }


def merge(client: Rest) -> Seen:
    """Open a pull request, point it elsewhere, judge it and merge it."""
    pulls, repos, checks = client.pulls, client.repos, client.checks
    pull = pulls.create(*HERE, title="Change", head="topic", base="main").parsed_data
    here, sha = (*HERE, pull.number), pull.head.sha
    pulls.update(*here, base="side")
    files = pulls.list_files(*here).parsed_data
    asked = {"name": "lint", "head_sha": sha, "status": "in_progress"}
    check = checks.create(*HERE, data=asked).parsed_data
    checks.update(*HERE, check.id, data={"conclusion": "success"})
    repos.create_commit_status(*HERE, sha, state="success", context="deploy")
    judged = checks.list_for_ref(*HERE, sha).parsed_data
    status = repos.get_combined_status_for_ref(*HERE, sha).parsed_data
    statuses = repos.list_commit_statuses_for_ref(*HERE, sha).parsed_data
    try:
        pulls.merge(*here, sha="0" * 40)
        refused = 0
    except RequestFailed as error:
        refused = error.response.status_code
    merged = pulls.merge(*here, sha=sha).parsed_data
    again = pulls.get(*here).parsed_data
    done = pulls.check_if_merged(*here)
    commits = pulls.list_commits(*here).parsed_data
    tips = [
        repos.get_branch(*HERE, name).parsed_data.commit.sha
        for name in ("side", "main")
    ]
    return {
        "base": again.base.ref,
        "files": [[one.filename, one.status] for one in files],
        "commits": [one.sha == sha for one in commits],
        "checks": [[one.name, one.status, one.conclusion] for one in judged.check_runs],
        "status": [status.state, *(one.context for one in statuses)],
        "refused": refused,
        "merged": [merged.merged, again.merged, done.status_code == 204],
        "tip": tips[0] == merged.sha,
        "untouched": tips[1] != merged.sha,
    }


def run(client: Rest) -> Seen:
    """Dispatch a workflow, wait for its run, and take its artifact."""
    actions, name = client.actions, "brat-task.yml"
    inputs = {"session": "fix-1/2/1", "log": "a" * 40, "nonce": "n0nce"}
    started = actions.create_workflow_dispatch(*HERE, name, ref="main", inputs=inputs)
    listed = actions.list_workflow_runs(*HERE, name, event="workflow_dispatch")
    (found,) = listed.parsed_data.workflow_runs
    while found.status != "completed":
        time.sleep(0.05)
        found = actions.get_workflow_run(*HERE, found.id).parsed_data
    kept = actions.list_workflow_run_artifacts(*HERE, found.id).parsed_data
    (artifact,) = kept.artifacts
    data = actions.download_artifact(*HERE, artifact.id, "zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        return {
            "started": started.status_code < 300,
            "run": [found.event, found.conclusion],
            "artifact": [artifact.name, "result.json" in zipped.namelist()],
        }


def hook(client: Rest, url: str) -> Seen:
    """Make a webhook, look at what it was sent, and take it away."""
    repos = client.repos
    config = {"url": url, "secret": "s", "content_type": "json"}
    made = repos.create_webhook(*HERE, config=config, events=["issues"]).parsed_data
    here = (*HERE, made.id)
    repos.ping_webhook(*here)
    while len(sent := repos.list_webhook_deliveries(*here).parsed_data) < 2:
        time.sleep(0.05)
    same = repos.get_webhook(*here).parsed_data
    repos.delete_webhook(*here)
    left = repos.list_webhooks(*HERE).parsed_data
    return {
        "sent": [[one.event, one.status_code] for one in sent],
        "hook": [same.active, same.events, len(left)],
    }


def main() -> None:
    """Tell the story."""
    api, token, owners, url = sys.argv[1:]
    bot, owner = GitHub(token, base_url=api), GitHub(owners, base_url=api)
    client = bot.rest(VERSION)
    repo = client.repos.get(*HERE).parsed_data
    seen: Seen = {"repository": [repo.full_name, repo.default_branch, repo.private]}
    for part in (talk, merge, run):
        seen |= part(client)
    seen |= hook(owner.rest(VERSION), url)
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main()
