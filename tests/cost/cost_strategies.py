"""Tools whose text is as nasty as tokenizers go, and plain ones."""

from hypothesis import strategies as st

from packbelt.catalog.forms import native_tool

FRAGMENTS = st.sampled_from(
    [
        *('"', "\\", "{", "}", "}}", "]", "/", "//", "://", "\n", "\r\n", "\n\n", "\n\n//", " ", "   ", "\t"),
        *(
            "\u3000",
            "\u2028",
            "\x85",
            "\x00",
            "\u0301",
            "é",
            "ß",
            "한국",
            "お誕生日",
            "🙂",
            "👩\u200d💻",
            "\ud83d",
            "\ude00",
        ),
        *(
            "<|endoftext|>",
            "<|endofprompt|>",
            "<function>",
            "any;",
            "'s",
            "'LL",
            "123456789",
            "  x",
            ".",
            ";\n",
        ),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=6), max_size=5).map("".join)
NAMES = st.text("abzAZ09_-", min_size=1, max_size=8)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["string", "number", "integer", "boolean", "null", ["string", "null"], "object"]
            ),
            "description": TEXTS,
            "enum": st.lists(TEXTS | st.integers() | st.none(), max_size=3),
            "default": TEXTS,
        },
    ),
    lambda inner: (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(TEXTS, inner, max_size=3)}
        )
    ),
    max_leaves=3,
)
TOOLS = st.builds(
    lambda name, description, properties, required: native_tool(
        "native", name, description, {"properties": properties, "required": required}
    ),
    NAMES,
    TEXTS,
    st.dictionaries(TEXTS, SCHEMAS, max_size=2),
    st.lists(TEXTS, max_size=2),
)
BELTS = st.lists(TOOLS, max_size=4)


def plain(name, description="Does it.", **properties):
    return native_tool("native", name, description, {"type": "object", "properties": properties})
