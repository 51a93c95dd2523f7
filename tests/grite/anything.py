"""Any event there can be, for hypothesis."""

from hypothesis import strategies as st

from grite import event

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
payloads = st.recursive(
    st.none() | st.integers(0, 2**64 - 1) | st.binary() | texts,
    lambda inner: st.lists(inner, max_size=5).map(tuple),
    max_leaves=10,
)
kinds: st.SearchStrategy[event.Kind] = st.one_of(
    st.builds(
        event.IssueCreated, texts, texts, st.lists(texts, max_size=30).map(tuple)
    ),
    st.sampled_from([event.CommentAdded, event.LabelAdded, event.LabelRemoved]).flatmap(
        lambda kind: st.builds(kind, texts)
    ),
    st.builds(event.StateChanged, st.sampled_from(["open", "closed"])),
    st.builds(
        event.UnknownKind,
        st.just(2) | st.integers(7, 2**64 - 1),
        payloads.map(event.write_cbor),
    ),
)
events = st.builds(
    event.Event,
    ids,
    ids,
    st.integers(0, 2**64 - 1),
    kinds,
    st.none() | hashes,
    st.none() | st.binary(min_size=64, max_size=64),
)
