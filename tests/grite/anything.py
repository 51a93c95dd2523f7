"""Any event there can be, for hypothesis."""

from hypothesis import strategies as st

from grite.event import (
    AssigneeAdded,
    AssigneeRemoved,
    AttachmentAdded,
    CommentAdded,
    ContextUpdated,
    DependencyAdded,
    DependencyRemoved,
    Event,
    IssueCreated,
    IssueUpdated,
    Kind,
    LabelAdded,
    LabelRemoved,
    LinkAdded,
    ProjectContextUpdated,
    StateChanged,
    Symbol,
    UnknownKind,
)
from tests.grite.plain import plain

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
maybe_texts = st.none() | texts
ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
lines = st.integers(0, 2**32 - 1)
relations = st.sampled_from(["blocks", "depends_on", "related_to"])
symbols = st.builds(Symbol, texts, texts, lines, lines)
payloads = st.recursive(
    st.none() | st.integers(0, 2**64 - 1) | st.binary() | texts,
    lambda inner: st.lists(inner, max_size=5).map(tuple),
    max_leaves=10,
)
kinds: st.SearchStrategy[Kind] = st.one_of(
    st.builds(IssueCreated, texts, texts, st.lists(texts, max_size=30).map(tuple)),
    st.builds(IssueUpdated, maybe_texts, maybe_texts),
    st.sampled_from([CommentAdded, LabelAdded, LabelRemoved]).flatmap(
        lambda kind: st.builds(kind, texts)
    ),
    st.builds(StateChanged, st.sampled_from(["open", "closed"])),
    st.builds(LinkAdded, texts, maybe_texts),
    st.builds(AssigneeAdded, texts),
    st.builds(AssigneeRemoved, texts),
    st.builds(AttachmentAdded, texts, hashes, texts),
    st.builds(DependencyAdded, ids, relations),
    st.builds(DependencyRemoved, ids, relations),
    st.builds(
        ContextUpdated, texts, texts, st.lists(symbols).map(tuple), texts, hashes
    ),
    st.builds(ProjectContextUpdated, texts, texts),
    st.builds(UnknownKind, st.integers(15, 2**64 - 1), payloads.map(plain)),
)
events = st.builds(
    Event,
    ids,
    ids,
    st.integers(0, 2**64 - 1),
    kinds,
    st.none() | hashes,
    st.none() | st.binary(min_size=64, max_size=64),
)
