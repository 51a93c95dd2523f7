"""What no agent sees of a home, though it sees the programs in it: people's logins."""

from typing import Final

from convoy.model.records import ENGINE_TYPES

STORE: Final = "store.git"
"""The witness's repository, in its scratch folder."""
CREDENTIALS: Final = (
    *(".netrc", ".git-credentials", ".config/git", ".config/gh", ".gitconfig"),
    *(".ssh", ".gnupg", ".docker", ".kube", ".aws", ".azure", ".config/gcloud"),
    *(".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".config/hub"),
    *(path for each in ENGINE_TYPES.values() for path in each.logins),
)
"""Files and folders in a person's home by which programs speak for that person."""
