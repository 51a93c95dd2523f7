"""A small forge on loopback: GitHub's REST API, signed webhooks, git's smart HTTP.

It is what brat talks to when there is no GitHub: the same bot, client and runner work
against both. Its answers and webhooks have those of GitHub's fields that brat reads.

It has accounts with rights, repositories (real bare ones on disk), issues, comments,
labels, reactions, pull requests, check runs, webhooks, workflow runs of
`brat-task.yml` as processes of this machine, and CI that runs the owner's command on
pushed commits. A pull request is merged exactly when its base comes to contain its
head, as on GitHub. git alone judges pushes.

It has what the bot and the command line ask for, and nothing else: no reviews, no
statuses, no merging by the forge, no rules for branches, no pages to look at, no
GraphQL, no forks, no organisations and no sandbox: what it runs, runs as you. The tests
add those and all other fields (tests/world/github_forge), and hold what they serve
against GitHub's own descriptions (tests/contract). It listens on 127.0.0.1 only.
It does not run workflow files; `brat-task.yml` always exists and stands for our runner.

Set one up (`storage.forge_state`), with or without a server on top (`http_server`)::

    with Forge(folder) as forge:                       # one process at a time
        forge.add_user("alice")
        forge.add_user("brat[bot]", kind="Bot")        # only bots write check runs
        forge.add_repository("alice/app", source=path, branch="main")
        forge.grant("alice/app", "brat[bot]", "write")
        forge.set_ci("alice/app", Ci(command="pytest -q"))
        hook = forge.add_hook("alice/app", url, secret)
        token = forge.add_token("brat[bot]")           # or scope="read"

        async with serving(forge) as url: ...          # API: f"{url}/api/v3"

or as a program of its own: `python -I -m brat.forge --dir DIR`. Clone from
`{url}/{owner}/{name}.git` with the token as the password of `x-access-token`.
"""
