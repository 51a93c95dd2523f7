"""The files that tell CI what to run. Pure.

Whoever changes them changes the judge: a green verdict then says what they wanted it to
say, so a person has to look.
"""

from collections.abc import Iterable
from typing import Final

from convoy.gate.patch import is_matched

CI_FILES: Final = (
    *("/.github/workflows/", "/.github/actions/", "action.yml", "action.yaml"),
    *("/.forgejo/workflows/", "/.gitea/workflows/", "/.circleci/", "/.buildkite/"),
    *(
        "/.gitlab-ci.yml",
        "/.gitlab-ci/",
        "/.gitlab/ci/",
        "Jenkinsfile*",
        "*.jenkinsfile",
    ),
    *("/azure-pipelines*.yml", "/azure-pipelines*.yaml", "/.azure-pipelines/"),
    *("/.azuredevops/", "/.pipelines/", "/.travis.yml", "/.cirrus.*", "/.drone.*"),
    *(
        "/appveyor.yml",
        "/.appveyor.yml",
        "/.woodpecker*",
        "/.semaphore/",
        "/.teamcity/",
    ),
    *("/bitbucket-pipelines.yml", "/bitrise.yml", "/codemagic.yaml", "/wercker.yml"),
    *("/buildspec*.yml", "/cloudbuild.y*ml", "/codeship-*.yml", "/.tekton/", "/.prow*"),
    *("/.zuul.*", "/zuul.yaml", "/zuul.d/", "/.zuul.d/", "/.taskcluster.yml", "/.ci/"),
    *("/.builds/", "/.build.yml"),
)
"""Patterns as in .gitignore, relative to the repository's top.

https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax,
https://circleci.com/docs/config-intro, https://docs.gitlab.com/ci/yaml,
https://www.jenkins.io/doc/book/pipeline/jenkinsfile,
https://buildkite.com/docs/pipelines/configure,
https://learn.microsoft.com/azure/devops/pipelines/customize-pipeline
"""


def ci_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of some paths that tell CI what to run, sorted."""
    return tuple(
        sorted({path for path in paths if is_matched(path, CI_FILES, any_case=True)})
    )
