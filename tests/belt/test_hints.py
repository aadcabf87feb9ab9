"""Hints of every class, repeated ones, and the bug cases on unknown and invented names (UK)."""

import pytest

from packbelt.belt import hint_for, resolve
from packbelt.belt.names import words
from packbelt.catalog.discover import embedded_root
from packbelt.catalog.load import load
from packbelt.model import Call, HintClass, Refusal, Suggestion
from packbelt.testing import (
    agent,
    broken,
    make_belt,
    make_snapshot,
    make_workspace,
    native,
    pack,
    policy,
    schema,
    skill,
)
from packbelt.turn import AgentHandle

PERMISSION = ("allowed", "permission", "denied", "forbidden", "ceiling")

WORKSPACE = make_workspace(
    tools=[
        native("mcp_registry_search", "Search the MCP registry.", schema("query")),
        native("skill_registry_search", "Search the skill registry.", schema("query")),
        native("config_get", "Read a setting.", schema("key")),
        native("config_drop", "Drop a setting.", schema("key"), permission="dangerous"),
        native("web_fetch", "Fetch a page.", schema("url")),
        native("view", "View a file.", schema("path")),
        native("indexed", "Is found by search."),
        native("shelved", "Is switched off."),
        native("get_time", "Tells the time."),
    ],
    packs=[
        pack(
            "integrations",
            ["use_mcp_server", "mcp_registry_search"],
            access="owners",
            owners=["mcp_agent"],
            direct=["use_mcp_server"],
        ),
        pack(
            "skills",
            ["setup_skills", "run_skill", "skill_registry_search"],
            access="owners",
            owners=["skill_setup", "skill_executor"],
            direct=["setup_skills", "run_skill"],
        ),
        pack("system", ["config_get", "config_drop"], summary="Read and change settings."),
        pack("old", ["shelved"], exposure="off"),
        pack("more", ["indexed"], exposure="deferred"),
    ],
    agents=[
        agent("orchestrator", tools=["*"], delegates="*"),
        agent("mcp_agent", handoff="use_mcp_server", tools=["pack:integrations", "*/*"]),
        agent("skill_setup", handoff="setup_skills", tools=["pack:skills"]),
        agent("skill_executor", handoff="run_skill", tools=["pack:skills"]),
        agent("narrow", tools=["config_get"]),
    ],
    broken_agents=[broken("lost")],
    policies={"*": policy(access="handoff", owners=["mcp_agent"])},
    skills=[skill("pdf", "Reads PDF files.")],
    deny=["web_fetch"],
)
SNAPSHOT = make_snapshot(
    {
        "weather": ["get_forecast"],
        "crm": ["list"],
        "down": ["x"],
        "gone": ["y"],
        "a": ["send"],
        "b": ["send"],
    },
    status={"crm": "starting", "down": "failed", "gone": "disconnected"},
    errors={"down": "exited with 1"},
)


@pytest.fixture
def belt():
    return make_belt(WORKSPACE, SNAPSHOT)


def told(belt, name, pack=None):
    hint = hint_for(belt, name, pack)
    return hint.kind, hint.text, [offer.tool for offer in hint.suggestions]


def silent_on_permission(text):
    return not any(word in text.lower() for word in PERMISSION)


@pytest.mark.parametrize(
    ("name", "inside", "kind", "first"),
    [
        ("view", None, "callable", "view"),
        ("indexed", None, "callable", "find_tools"),
        ("config_get", None, "packed", "use_pack"),
        ("config_get", "system", "packed", "use_pack"),
        ("config_get", "skills", "wrong_pack", "use_pack"),
        ("mcp_registry_search", None, "reserved", "use_mcp_server"),
        ("mcp__weather__get_forecast", None, "reserved", "use_mcp_server"),
        ("config_drop", None, "over_ceiling", None),
        ("web_fetch", None, "denied", None),
        ("shelved", None, "unavailable", None),
        ("delegate_to_lost", None, "unavailable", None),
        ("no_such_thing_at_all", None, "unknown", None),
        ("find_tools", None, "invalid_arguments", None),
    ],
)
def test_each_class_has_its_own_answer(belt, name, inside, kind, first):
    said, text, offers = told(belt, name, inside)
    assert said == kind
    assert (offers[0] if offers else None) == first
    assert text.endswith((".", "}"))


def test_off_the_belt_names_the_rule_and_no_other_agents_tool():
    narrow = make_belt(WORKSPACE, SNAPSHOT, "narrow")
    kind, text, offers = told(narrow, "view")
    assert (kind, offers) == ("off_belt", [])
    assert "its `tools` list does not grant it" in text


def test_a_reserved_tool_without_a_way_says_what_cuts_it():
    snapshot = make_snapshot(disabled_agents=["mcp_agent"])
    kind, text, offers = told(make_belt(WORKSPACE, snapshot), "mcp_registry_search")
    assert (kind, offers) == ("reserved", [])
    assert "agent 'mcp_agent' is disabled" in text


def test_bad_arguments_keep_the_name_and_show_the_schema(belt):
    hint = resolve(belt, "view", {"path": 3}).hint
    assert hint.kind is HintClass.INVALID_ARGUMENTS
    assert "path: 3 is not of type 'string'" in hint.text
    assert '"required":["path"]' in hint.text
    assert hint.suggestions == (Suggestion("view", {"path": "..."}),)


def test_the_callers_arguments_are_kept_where_they_fit(belt):
    hint = resolve(belt, "View", {"path": "a.txt"}).hint
    assert hint.suggestions[0] == Suggestion("view", {"path": "a.txt"})


def test_an_opened_pack_whose_tools_are_direct_lists_their_names(belt):
    kind, text, _ = told(belt, "", "integrations")
    assert kind == "callable"
    assert "use_mcp_server" in text


def test_the_listing_of_a_pack_is_offered_for_an_empty_tool(belt):
    hint = hint_for(belt, "", "system")
    assert hint.suggestions == (Suggestion("use_pack", {"pack": "system"}),)
    assert hint.text == 'Pack "system" can be opened. Call use_pack({"pack":"system"}).'


def test_whoever_has_no_opener_is_told_how_to_call_what_he_wanted():
    hint = hint_for(make_belt(WORKSPACE, SNAPSHOT, "narrow"), "config_get", "system")
    assert hint.kind is HintClass.UNKNOWN
    assert hint.suggestions == (Suggestion("config_get", {"key": "..."}),)


def test_an_unknown_tool_of_a_reserved_pack_leads_to_the_hand_off(belt):
    kind, text, offers = told(belt, "zzz", "mcp:weather")
    assert (kind, offers) == ("unknown", ["use_mcp_server"])
    assert silent_on_permission(text)


def test_a_repeated_call_gets_a_firmer_answer_and_another_call_does_not():
    handle = AgentHandle(WORKSPACE, "orchestrator")
    handle.turn(SNAPSHOT)
    first = handle.resolve("install_skill", {}).hint
    again = handle.resolve("install_skill", {}).hint
    third = handle.resolve("install_skill", {}).hint
    assert first.kind is HintClass.UNKNOWN
    assert again.kind is third.kind is HintClass.REPEAT
    assert again.suggestions == first.suggestions
    assert first.text in again.text
    assert "failed 2 times" in again.text
    assert "failed 3 times" in third.text
    assert handle.resolve("install_skill", {"name": "pdf"}).hint.kind is HintClass.UNKNOWN
    assert isinstance(handle.resolve("view", {"path": "x"}), Call)


def test_hints_speak_the_targets_spelling(belt):
    hint = hint_for(belt, "View", spell=lambda name: f"mcp__packbelt__{name}")
    assert "mcp__packbelt__view(" in hint.text


def test_uk01_an_invented_install_tool_leads_to_the_hand_off_that_installs(belt):
    for inside in ("skills", None):
        kind, text, offers = told(belt, "install_skill", inside)
        assert kind == "unknown"
        assert offers[0] == "setup_skills"
        assert silent_on_permission(text)
    kind, text, _ = told(belt, "anything", "mcp_setup")
    assert kind == "unknown"
    assert 'No pack is called "mcp_setup"' in text
    assert "- system: Read and change settings." in text
    assert silent_on_permission(text)


def test_to_connect_a_server_is_to_set_one_up():
    workspace = load(embedded_root())
    hint = hint_for(make_belt(workspace), "connect_mcp_server")
    assert [offer.tool for offer in hint.suggestions] == ["setup_mcp_server"]


@pytest.mark.parametrize("word", ["now", "today", "date", "clock"])
def test_the_words_for_the_time_mean_one_thing(word):
    assert words(word) == words("time")


def test_uk02_existence_is_asked_before_permission():
    narrow = make_belt(WORKSPACE, SNAPSHOT, "narrow")
    assert told(narrow, "str_replace_based_edit_tool")[0] == "unknown"
    assert told(narrow, "view")[0] == "off_belt"


def test_uk04_an_unknown_name_is_an_answer_and_no_exception(belt):
    refusal = resolve(belt, "get_date", {})
    assert isinstance(refusal, Refusal)
    assert [offer.tool for offer in refusal.hint.suggestions] == ["get_time"]


def test_uk06_a_near_name_gets_the_exact_next_call():
    tools = [native("central_get_sites", "Lists the sites."), native("central_get_clients"), native("other")]
    hint = hint_for(make_belt(make_workspace(tools=tools)), "central_list_sites")
    assert '"central_list_sites"' in hint.text
    assert hint.suggestions[0] == Suggestion("central_get_sites", {})
    assert "central_get_sites({})" in hint.text


def test_uk09_the_name_is_echoed_on_one_line_and_quoted(belt):
    text = told(belt, "foo bar\n# X")[1]
    assert '"foo bar # X"' in text
    assert "\n" not in text
    assert '"__view"' in told(belt, "__view")[1]
    assert len(told(belt, "x" * 5000)[1]) < 1000


def test_uk11_one_bad_call_costs_only_itself(belt):
    calls = [("view", {"path": "a"}), ("get_time", {}), ("entity_search", {}), ("view", {"path": "b"})]
    resolved = [resolve(belt, name, given) for name, given in calls]
    assert [isinstance(one, Call) for one in resolved] == [True, True, False, True]
    assert len(resolved[2].hint.text) < 1000


def test_uk12_case_and_hyphens_are_matched_exactly_first_and_a_unique_near_one_is_only_proposed():
    """The case asks that a unique near match runs; the design says that guessed names are never executed."""
    belt = make_belt(make_workspace(), make_snapshot({"Linear": ["get_team"]}))
    assert isinstance(resolve(belt, "mcp__Linear__get_team", {}), Call)
    for name in ("mcp__linear__get_team", "mcp__Linear__get-team", "Linear_get_team"):
        refusal = resolve(belt, name, {})
        assert [offer.tool for offer in refusal.hint.suggestions] == ["mcp__Linear__get_team"], name
    exact = make_belt(make_workspace(), make_snapshot({"s": ["Get", "get"]}))
    assert resolve(exact, "mcp__s__get", {}).tool.name == "get"


def test_uk15_the_kinds_of_failure_are_distinct(belt):
    kinds = [
        resolve(belt, name, given).hint.kind
        for name, given in [
            ("no_such_thing", {"path": "a"}),
            ("config_drop", {"key": "a"}),
            ("view", {"wrong": 1}),
            ("mcp__gone__y", {}),
            ("web_fetch", {"url": "x"}),
        ]
    ]
    inherited = make_belt(make_workspace(), make_snapshot({"gone": ["y"]}, status={"gone": "failed"}))
    assert kinds == ["unknown", "over_ceiling", "invalid_arguments", "unavailable", "denied"]
    assert resolve(inherited, "mcp__gone__y", {}).hint.kind == "unavailable"
    assert resolve(make_belt(WORKSPACE, None, "narrow"), "view", {"path": "a"}).hint.kind == "off_belt"


def test_uk18_the_name_of_a_skill_leads_to_the_hand_off_that_runs_it(belt):
    hint = hint_for(belt, "pdf")
    assert hint.kind is HintClass.UNKNOWN
    assert hint.suggestions[0].tool == "run_skill"
    assert "pdf" in hint.suggestions[0].arguments["request"]
    without = hint_for(make_belt(WORKSPACE, make_snapshot(disabled_agents=["skill_executor"])), "pdf")
    assert "run_skill" not in [offer.tool for offer in without.suggestions]


@pytest.mark.parametrize("name", ["creating:view", "default_api:view", "functions.view", "VIEW"])
def test_uk21_a_prefix_that_models_invent_is_seen_through_and_nothing_runs(belt, name):
    refusal = resolve(belt, name, {"path": "a"})
    assert isinstance(refusal, Refusal)
    assert refusal.hint.suggestions == (Suggestion("view", {"path": "a"}),)


def test_uk23_a_deny_quotes_the_entry_that_matched():
    belt = make_belt(make_workspace(deny=["gh/delete_*"]), make_snapshot({"gh": ["delete_repo", "search"]}))
    kind, text, _ = told(belt, "mcp__gh__delete_repo")
    assert kind == "denied"
    assert "'gh/delete_*'" in text
    assert "Only what matches that entry is denied" in text
    assert told(belt, "mcp__gh__search")[0] == "callable"


def test_uk24_a_server_that_is_not_there_is_no_unknown_name():
    workspace = make_workspace()
    belt = make_belt(workspace, SNAPSHOT)
    said = {
        server: told(belt, f"mcp__{server}__{tool}")
        for server, tool in (("crm", "list"), ("down", "x"), ("gone", "y"))
    }
    assert {kind for kind, _, _ in said.values()} == {"unavailable"}
    assert "server 'crm' is starting" in said["crm"][1]
    assert "server 'down' failed: exited with 1" in said["down"][1]
    assert "server 'gone' is not connected" in said["gone"][1]
    assert told(belt, "mcp__never__heard")[0] == "unknown"


def test_a_bare_name_of_a_servers_tool_is_no_name():
    belt = make_belt(make_workspace(), SNAPSHOT)
    assert told(belt, "get_forecast")[2] == ["mcp__weather__get_forecast"]
    kind, text, _ = told(belt, "send")
    assert kind == "ambiguous"
    assert "mcp__a__send, mcp__b__send" in text
    denied = make_belt(make_workspace(deny=["weather/*"]), SNAPSHOT)
    kind, text, _ = told(denied, "get_forecast")
    assert kind == "unknown"
    assert silent_on_permission(text)


def test_bug41_a_right_tool_in_a_wrong_pack_is_told_its_pack(belt):
    kind, text, offers = told(belt, "config_get", "more")
    assert (kind, offers[0]) == ("wrong_pack", "use_pack")
    assert 'it is in pack "system"' in text


@pytest.mark.parametrize("status", ["starting", "failed", "disconnected"])
def test_a_tool_of_a_server_that_never_said_what_it_has_is_not_called_unknown(status):
    snapshot = make_snapshot(status={"crm": status})
    hint = hint_for(make_belt(make_workspace(), snapshot), "mcp__crm__list")
    assert hint.kind is HintClass.UNAVAILABLE
    assert f'Server "crm" is {status}' in hint.text
    assert hint.suggestions == ()


def test_a_name_of_a_connected_server_without_such_a_tool_is_unknown():
    hint = hint_for(make_belt(make_workspace(), make_snapshot({"crm": []})), "mcp__crm__list")
    assert hint.kind is HintClass.UNKNOWN


def test_an_installed_skill_s_name_for_a_pack_s_leads_to_the_hand_offs_for_skills(belt):
    kind, text, offers = told(belt, "pdf_update", "pdf")
    assert (kind, offers) == ("unknown", ["run_skill", "setup_skills"])
    assert text.startswith('"pdf" is an installed skill, not a pack. Call ')
    assert "system:" not in text  # the list of packs would lead away from it


def test_a_server_s_bare_name_for_a_pack_s_leads_to_whoever_has_its_tools(belt):
    kind, text, offers = told(belt, "get_the_weather", "Weather")
    assert (kind, offers) == ("unknown", ["use_mcp_server"])
    assert text.startswith('No pack is called "Weather"; it is an MCP server. Call ')
    assert "use_mcp_server" not in told(belt, "crm", "nothing")[2]


def test_a_server_s_bare_name_for_a_pack_s_leads_to_the_pack_of_one_who_can_open_it():
    workspace = make_workspace(policies={"*": policy(exposure="packed")})
    belt = make_belt(workspace, make_snapshot({"weather": ["get_forecast"]}))
    first = hint_for(belt, "weather", "weather").suggestions[0]
    assert (first.tool, first.arguments) == ("use_pack", {"pack": "mcp:weather"})
