"""Public bug reports of classes NM, AD and TK that speak of a provider's form."""

import json
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from targets_built import APIS, BUILT, lenient, sent

from packbelt.model import Code
from packbelt.providers import CompileError, Names, ResidueError, TargetError, compile_belt, target
from packbelt.providers.plan import plan
from packbelt.providers.schemas import fitted
from packbelt.testing import agent, make_belt, make_snapshot, make_workspace, native, pack, policy
from packbelt.turn import Turn
from packbelt.turn.matrix import left_out as told

every = pytest.mark.parametrize("name", BUILT)
apis = pytest.mark.parametrize("name", APIS)


def belt_of(tools=(), servers=None, policies=None, packs=(), **keys):
    workspace = make_workspace(
        tools=tools,
        agents=[agent("orchestrator", **keys)],
        servers=list(servers or ()),
        policies=policies,
        packs=packs,
    )
    return make_belt(workspace, make_snapshot(servers or {}), "orchestrator")


def schemas(form):
    """Each sent tool's schema by its name, wherever the API has it."""
    tools = form.kwargs.get("tools") or form.kwargs["config"]["tools"][0]["function_declarations"]
    found = {}
    for tool in tools:
        entry = tool.get("function", tool)
        keys = ("input_schema", "parameters", "parameters_json_schema")
        found[entry["name"]] = next(entry[key] for key in keys if key in entry)
    return found


@every
def test_nm01_a_name_comes_back_by_the_table_and_is_never_split(name):
    form = compile_belt(belt_of(servers={"db": ["execute_sql"], "my_db": ["execute_sql"]}), name)
    wires = ["mcp__db__execute_sql", "mcp__my_db__execute_sql"]
    assert sent(form) == wires
    assert [form.names.unspell(form.names.spell(one)) for one in wires] == wires
    assert form.names.unspell("db__execute_sql") == "db__execute_sql"


@every
def test_nm03_names_that_one_server_has_twice_after_mapping_stay_apart(name):
    belt = belt_of(servers={"s": ["search-a", "search_a", "search.a", "search a"]})
    form = compile_belt(belt, name)
    assert len(set(form.enforcement.plan)) == 4
    assert sorted(sent(form)) == sorted(tool.wire_name for tool in belt.tools)


@every
def test_nm04_one_tool_name_on_two_servers_is_two_tools(name):
    form = compile_belt(belt_of(servers={"a": ["send_email"], "b": ["send_email"]}), name)
    assert sent(form) == ["mcp__a__send_email", "mcp__b__send_email"]


@every
def test_nm06_nm09_the_limit_holds_for_the_final_name_and_maps_back(name):
    belt = belt_of(tools=["plain"], servers={"s" * 45: ["t" * 30, "ok"], "m": ["u" * 56]})
    form = compile_belt(belt, name)
    assert all(len(said) <= target(name).names.longest for said in form.enforcement.plan)
    assert sent(form) == [tool.wire_name for tool in belt.tools]
    ids = {str(belt[wire].tool.id) for wire in sent(form)}
    assert ids == {
        "native:plain",
        f"server:{'s' * 45}/{'t' * 30}",
        f"server:{'s' * 45}/ok",
        f"server:m/{'u' * 56}",
    }


@every
def test_nm14_a_name_that_had_to_be_changed_costs_no_other(name):
    form = compile_belt(belt_of(servers={"s": ["a", "bad name", "b"]}), name)
    assert len(form.enforcement.plan) == 3
    assert {"mcp__s__a", "mcp__s__b"} < set(sent(form))


def test_nm18_a_foreign_prefix_is_never_stripped():
    names = Names({"list": "p__list"}, {"p__list": "list"})
    assert names.unspell("q__list") == "q__list"
    assert names.unspell("p__p__list") == "p__p__list"


@every
def test_ad25_a_filter_that_is_accepted_has_its_effect(name):
    ten = {"s": [f"t{i}" for i in range(9)] + ["get_weather"]}
    assert sent(compile_belt(belt_of(servers=ten), name)) != ["mcp__s__get_weather"]
    workspace = make_workspace(agents=[agent("orchestrator", tools=["s/get_weather"])], servers=["s"])
    belt = make_belt(workspace, make_snapshot(ten), "orchestrator")
    assert sent(compile_belt(belt, name)) == ["mcp__s__get_weather"]


def test_tk09_the_cache_mark_is_on_the_last_tool_that_is_not_deferred():
    belt = belt_of(tools=["a", "b", "c"], packs=[pack("p", ["c"])])
    tools = compile_belt(belt, "anthropic", search=True, cache=True).kwargs["tools"]
    assert [tool["name"] for tool in tools if "cache_control" in tool] == ["b"]
    assert [tool["name"] for tool in tools if tool.get("defer_loading")] == ["c"]
    plain = compile_belt(belt, "anthropic", cache=True).kwargs
    assert [tool["name"] for tool in plain["tools"] if "cache_control" in tool] == ["b"]
    assert plain["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in json.dumps(compile_belt(belt, "anthropic").kwargs)


def test_tk09_where_all_is_deferred_the_mark_is_on_no_deferred_tool():
    belt = belt_of(tools=["c"], packs=[pack("p", ["c"])])
    tools = compile_belt(belt, "anthropic", search=True, cache=True).kwargs["tools"]
    assert [(tool["name"], "cache_control" in tool) for tool in tools] == [
        ("tool_search_tool_bm25", True),  # the search itself is never deferred
        ("c", False),
    ]
    nothing = belt_of(tools=["c"], packs=[], disallowed_tools=["c"])
    assert compile_belt(nothing, "anthropic", search=True, cache=True).kwargs["tools"] == []


@apis
def test_tk13_definitions_are_kept(name):
    schema = {
        "type": "object",
        "$defs": {"Item": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
    }
    assert schemas(compile_belt(belt_of([native("put", "", schema)]), name))["put"] == schema


@pytest.mark.parametrize("name", ["openai", "openai-chat"])
def test_tk15_a_tool_without_arguments_has_empty_properties(name):
    belt = belt_of(servers={"s": [{"name": "x", "inputSchema": {"type": "object"}}]})
    assert schemas(compile_belt(belt, name)) == {"mcp__s__x": {"type": "object", "properties": {}}}


ONE_OF = {
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "oneOf": [
        {"required": ["a"], "properties": {"a": {"type": "string"}}},
        {"required": ["b"], "properties": {"b": {"type": "string"}, "id": {"type": "string"}}},
    ],
    "additionalProperties": False,
}


@pytest.mark.parametrize("name", ["anthropic", "openai", "openai-chat"])
def test_tk15_what_combines_schemas_at_the_top_is_sent_flat_and_the_gate_keeps_to_the_whole(name):
    belt = belt_of([native("put", "", ONE_OF), "other"])
    form = compile_belt(belt, name)
    flat = {"a": {"type": "string"}, "b": {"type": "string"}, "id": {"type": "integer"}}
    assert schemas(form)["put"] == {"type": "object", "properties": flat}
    (said,) = form.diagnostics
    assert said.code is Code.TARGET_SCHEMA
    assert "`oneOf`" in said.message
    assert belt["put"].tool.input_schema == ONE_OF


def test_tk15_gemini_takes_combinations_as_they_are():
    form = compile_belt(belt_of([native("put", "", ONE_OF)]), "gemini")
    assert schemas(form)["put"] == ONE_OF
    assert form.diagnostics == ()


def test_tk15_a_parameter_that_the_api_refuses_costs_its_tool_alone():
    belt = belt_of([native("list", "", {"type": "object", "properties": {"filter[id]": {}}}), "other"])
    with pytest.raises(CompileError, match=r"native:list has the parameter 'filter\[id\]', and Anthropic"):
        compile_belt(belt, "anthropic")
    form = lenient(belt, "anthropic")
    assert sent(form) == ["other"]
    (said,) = form.diagnostics
    assert (said.code, said.name) == (Code.TARGET_SCHEMA, "list")
    assert "left out" in said.message
    assert sent(compile_belt(belt, "openai")) == ["list", "other"]


KINDS = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": "null"}, {"const": 1}, {}])
BRANCH = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(st.sampled_from("abc"), KINDS, max_size=3),
        "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
        "additionalProperties": st.booleans(),
    },
)
COMBINED = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from("abc"), KINDS, max_size=3),
        "additionalProperties": st.booleans(),
        "oneOf": st.lists(BRANCH, min_size=1, max_size=3),
        "anyOf": st.lists(BRANCH, min_size=1, max_size=3),
        "allOf": st.lists(BRANCH, min_size=1, max_size=2),
        "not": BRANCH,
        "enum": st.just([{"a": 1}, {}]),
    },
)
VALUES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["x", 1, 2, None]), max_size=3)


def is_valid(schema, value):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def is_named(schema, value):
    """Whether each parameter stands at the top, in a branch that admits the value, or nowhere at all."""
    branches = [b for key in ("oneOf", "anyOf", "allOf") for b in schema.get(key, ()) if "properties" in b]

    def one(name):
        naming = [branch for branch in branches if name in branch["properties"]]
        return name in schema.get("properties", ()) or not naming or any(is_valid(b, value) for b in naming)

    return all(map(one, value))


@given(schema=COMBINED, values=st.lists(VALUES, max_size=6))
def test_a_flat_schema_admits_every_call_that_keeps_to_the_parameters_of_its_branch(schema, values):
    for name in APIS:
        rule = target(name).schemas
        flat = fitted(rule, schema)
        assert not set(rule.flat) & set(flat)
        assert "properties" in flat or not rule.properties
        for value in values:
            if is_valid(schema, value) and is_named(schema, value):
                assert is_valid(flat, value)


def test_a_schema_that_fits_is_handed_on_untouched():
    schema = {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}}}
    for name in APIS:
        assert fitted(target(name).schemas, schema) is schema


def test_tk17_a_description_over_the_targets_cap_is_flagged_with_both_lengths():
    belt = belt_of([native("long", "x" * 6000), native("short", "y" * 2048)])
    made = plan(belt, replace(target("anthropic"), longest_description=2048), strict=True)
    (said,) = made.diagnostics
    assert (said.code, said.name) == (Code.TEXT_CUT, "long")
    assert "6,000" in said.message
    assert "2,048" in said.message
    assert made.tools[0].description == "x" * 6000  # what is sent is the whole; the target cuts


def many(count):
    servers = {"big": [f"b{i:03}" for i in range(count - 30)], "small": [f"s{i:02}" for i in range(30)]}
    return belt_of(servers=servers, policies={"*": policy(exposure="direct")})


def test_tk19_more_tools_than_the_target_takes_is_an_error_with_the_count_and_the_largest_packs():
    belt = many(238)
    with pytest.raises(CompileError) as caught:
        compile_belt(belt, "openai-chat")
    said = str(caught.value)
    assert "238 tools are sent" in said
    assert "takes 128" in said
    assert said.index("mcp:big (208)") < said.index("mcp:small (30)")
    form = lenient(belt, "openai-chat")
    assert [one.code for one in form.diagnostics] == [Code.TARGET_LIMIT]
    assert compile_belt(many(128), "openai-chat").diagnostics == ()


def test_namespaces_that_would_share_a_name_stay_apart():
    belt = belt_of(
        tools=["a"],
        servers={"x.y": ["t"], "x_y": ["t"], "z" * 80: ["t"]},
        policies={"*": policy(exposure="packed")},
    )
    tools = compile_belt(belt, "openai", search=True).kwargs["tools"]
    spaces = [tool for tool in tools if tool["type"] == "namespace"]
    assert len({space["name"] for space in spaces}) == 3
    assert all(len(space["name"]) <= 64 and space["description"] for space in spaces)
    assert tools[-1] == {"type": "tool_search"}


@every
def test_verify_passes_what_was_planned_and_names_every_difference(name):
    enforcement = lenient(belt_of(tools=["a", "b"]), name).enforcement
    enforcement.verify(enforcement.plan)
    enforcement.verify(reversed(enforcement.plan))
    with pytest.raises(ResidueError) as caught:
        enforcement.verify([*enforcement.plan[1:], "sneaked_in"])
    assert caught.value.extra == ("sneaked_in",)
    assert caught.value.missing == enforcement.plan[:1]
    assert "sneaked_in" in str(caught.value)
    assert enforcement.plan[0] in str(caught.value)


@every
def test_verify_finds_that_two_tools_have_one_name(name):
    enforcement = lenient(belt_of(tools=["a", "b"]), name).enforcement
    with pytest.raises(ResidueError) as caught:
        enforcement.verify([*enforcement.plan, enforcement.plan[0]])
    assert (caught.value.extra, caught.value.missing) == (enforcement.plan[:1], ())


def test_verify_takes_deferred_names_as_planned():
    belt = belt_of(tools=["a", "c"], packs=[pack("p", ["c"])])
    openai = compile_belt(belt, "openai", search=True).enforcement
    assert openai.plan == ("a", "c")
    openai.verify(["a", "c"])
    anthropic = compile_belt(belt, "anthropic", search=True).enforcement
    assert set(anthropic.plan) == {"a", "c", "tool_search_tool_bm25"}


def test_a_target_or_an_option_that_does_not_exist_is_named_with_what_does():
    belt = belt_of(tools=["a"])
    with pytest.raises(TargetError, match=r"'antropic'.*anthropic"):
        compile_belt(belt, "antropic")
    with pytest.raises(TargetError, match=r"no option 'serch'.*allowed.*search"):
        compile_belt(belt, "openai", serch=True)
    for option in ("name", "belt"):
        with pytest.raises(TargetError, match=f"no option '{option}'"):
            compile_belt(belt, "openai", **{option: "x"})


@pytest.mark.parametrize("name", ["anthropic", "openai", "openai-agents"])
def test_a_tool_called_like_the_targets_own_search_is_refused_beside_it(name):
    search = target(name).search
    belt = belt_of(tools=[search, "a", "b"], packs=[pack("p", ["a"])])
    assert search in sent(compile_belt(belt, name))  # alone it may be called so
    with pytest.raises(CompileError, match=rf"native:{search} and .* would both be '{search}'"):
        compile_belt(belt, name, search=True)
    form = compile_belt(belt, name, search=True, strict=False)
    said = [tool.get("name") for tool in form.kwargs["tools"]]
    assert said.count(search) == (1 if name == "anthropic" else 0)
    assert [one.name for one in form.diagnostics] == [search]


def test_with_tool_search_what_may_not_be_called_is_named_deferred_or_not():
    belt = belt_of(tools=["a", "b", "c", "d"], packs=[pack("p", ["c", "d"])])
    form = compile_belt(belt, "openai", search=True, allowed=["a", "c"])
    assert form.enforcement.residue == ("b", "d")


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_flattened_schema_has_what_its_branches_refer_to_and_branch_into(name):
    """A union of models as pydantic writes it, and a branch that branches again."""
    cat = {"type": "object", "properties": {"lives": {"type": "integer"}}, "required": ["lives"]}
    dog = {"$ref": "#/$defs/Dog", "properties": {"name": {"type": "string"}}}
    either = {"oneOf": [{"properties": {"barks": {"type": "boolean"}}}, {"$ref": "#/$defs/Cat"}]}
    schema = {
        "type": "object",
        "anyOf": [{"$ref": "#/$defs/Cat"}, dog],
        "$defs": {"Cat": cat, "Dog": either},
    }
    (sent_,) = schemas(compile_belt(belt_of(tools=[native("pet", input_schema=schema)]), name)).values()
    assert "anyOf" not in sent_
    assert sent_["properties"] == {
        "lives": {"type": "integer"},
        "name": {"type": "string"},
        "barks": {"type": "boolean"},
    }


def test_what_its_own_search_lacks_is_left_out_too_and_told():
    spaced = native("w", input_schema={"type": "object", "properties": {"a b": {"type": "string"}}})
    turn = Turn(belt_of(tools=[spaced, "x", "y"], packs=[pack("p", ["w", "y"])]))
    form = turn.compile("anthropic", search=True, strict=False)
    assert "w" not in form.enforcement.plan
    ((name, why),) = told(turn, form)
    assert name == "w"
    assert "'a b'" in why
