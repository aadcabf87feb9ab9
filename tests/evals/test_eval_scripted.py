"""What a scripted model does of its wishes: what it is shown and told decides, and not what was expected."""

import pytest

from packbelt.evals import Bound, Case, Expected, Message, Wish
from packbelt.evals.models import Request, Scripted

PROMPT = """You are here.

## Routing

- Add a server: `add_server`.
- Use one: `use_pack` with pack `servers` and tool `use_server`.

## Other

`clock` tells the time.
"""


def tool(name, **properties):
    return {
        "function": {
            "name": name,
            "description": "",
            "parameters": {"type": "object", "properties": properties},
        }
    }


OPENER = tool("use_pack", pack={"type": "string"}, tool={"type": "string"}, arguments={"type": "object"})
BELT = [OPENER, tool("clock"), tool("to_keeper", request={"type": "string"})]


def answered(name, text):
    """A conversation in which a call was answered."""
    made = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": name, "arguments": "{}"}}]}
    return [{"role": "user", "content": "x"}, made, {"role": "tool", "tool_call_id": "1", "content": text}]


@pytest.fixture
def does():
    """The name of what a wish comes to; None where it is passed over."""
    import anyio

    def run(wish, tools=BELT, conversation=({"role": "user", "content": "x"},)):
        case = Case("c", "a", (Message("user", "x"),), (("to_keeper",),))
        bound = Bound(case, Expected((("handoff:to_keeper",),)), (("to_keeper",),), (), ())
        mind = Scripted("s", lambda _: [wish]).begin(bound)
        request = Request(tools, ({"role": "system", "content": PROMPT}, *conversation))
        message = anyio.run(mind.reply, request)
        calls = message.get("tool_calls")
        return calls[0]["function"]["name"] if calls else None

    return run


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        (Wish(("add_server",), read="Routing"), "add_server"),  # named, though it is not advertised
        (Wish(("use_server",), read="Routing"), None),  # not by itself: through the opener
        (Wish(("clock",), read="Routing"), None),  # advertised, but this section does not name it
        (Wish(("clock", "add_server"), read="Other"), "clock"),
        (Wish(("clock",), read="No such"), None),
        (Wish(("add_server",), read="You are here."), None),
    ],
)
def test_who_goes_by_a_section_calls_what_it_names_and_nothing_else(does, wish, name):
    assert does(wish) == name


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ('No tool is called "x". Nearest: to_keeper({"request":"..."}).', "to_keeper"),
        ('Nearest: use_pack({"pack":"p","tool":"keep_add"}).', None),
        ("Tool to_keep is not allowed in the current session", None),
    ],
)
def test_who_does_what_he_is_told_stops_where_nobody_tells(does, answer, name):
    assert does(Wish(told=True), conversation=answered("x", answer)) == name


def test_a_direct_wish_is_not_taken_out_of_a_listing(does):
    listing = 'keep_add: Adds.\n{"type":"object"}\nto_keeper: Hands over.\n{"type":"object"}'
    opened = answered("use_pack", listing)
    opened[1]["tool_calls"][0]["function"]["arguments"] = '{"pack": "keep"}'
    assert does(Wish(direct=("to_keeper",), call=("keep_add",)), conversation=opened) == "to_keeper"
    without = BELT[:2]
    assert does(Wish(direct=("to_keeper",), look=False), without, opened) is None
    assert does(Wish(("to_keeper",), look=False), without, opened) == "use_pack"


def test_who_has_no_wishes_left_says_so(does):
    assert does(Wish(("no_such",), look=False)) is None
