import pytest

from packbelt.catalog.yaml import parse_json, parse_yaml
from packbelt.model import SnapshotError, WorkspaceError


def refused(text: str, parse=parse_yaml) -> WorkspaceError:
    with pytest.raises(WorkspaceError) as caught:
        parse(text, "f")
    assert caught.value.mend, "an error says the mend"
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("off", "off"),
        ("2024-05-06", "2024-05-06"),
        ("1:30", "1:30"),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("-3", -3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1_000", "1_000"),
        ("'true'", "true"),
        ('"12"', "12"),
        ("${NAME}", "${NAME}"),
    ],
)
def test_scalars_follow_the_core_schema(text, value):
    data = parse_yaml(f"a: {text}\n", "f").data
    assert data == {"a": value}
    assert type(data["a"]) is type(value)


def test_keys_are_text_and_lines_are_the_files():
    document = parse_yaml("on: 1\n2:\n  - x\n  - y: z\n", "f", first_line=10)
    assert document.data == {"on": 1, "2": ["x", {"y": "z"}]}
    assert str(document.where("on")) == "f:10"
    assert str(document.where("2", 1, "y")) == "f:13"
    assert str(document.where("2", 7, "missing")) == "f:11", "the nearest part above"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands twice, first on line 1"),
        ("a:\n  x: 1\n  x: 2\n", 3, "'x' stands twice"),
        ("a: 1\nb: &x 2\n", 2, "anchor"),
        ("a: 1\nb: *x\n", 2, "alias"),
        ("b: !!python/object:os.system x\n", 1, "tag"),
        ("<<: {a: 1}\n", 1, "merge key"),
        ("a:\n\t- b\n", 2, "tab"),
        ("a: b: c\n", 1, "colon"),
        ("a: **x**\n", 1, "starts with *"),
        ("a: @x\n", 1, "quotes"),
        ("a: 'x\n", 2, "close"),
        ("a: 1\n---\nb: 2\n", 2, "second YAML document"),
        ("a: .nan\n", 1, "finite"),
        ("a: 1e999\n", 1, "finite"),
        ("a: " + "9" * 5000, 1, "digits"),
        ("a: 1\nb: \x07\n", 2, "U+0007"),
        ("? [a]\n: b\n", 1, "a key is a list"),
        ("[" * 101, 1, "100 levels"),
        ("[" * 5000, 1, "100 levels"),
        ("a: {{ x }}\n", 1, "quotes"),
    ],
)
def test_what_strict_yaml_refuses(text, line, words):
    error = refused(text)
    assert error.where is not None
    assert (error.where.file, error.where.line) == ("f", line)
    assert words in str(error)


def test_fm11_alias_bomb_is_refused_before_it_grows():
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    assert "anchor" in str(refused(bomb))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n "a": 1,\n}', 3, "not valid JSON"),
        ('{\n "a": 1,\n "a": 2}', 3, "'a' stands twice"),
        ('{"a": NaN}', 0, "NaN"),
        ('{"a":', 1, "ends too early"),
        ("", 1, "ends too early"),
        ('{"a": "\\ud800"}', 0, "surrogate"),
        ("[" * 200_000, 0, "too deeply"),
        ('{"a": 1} // note', 1, "no comments"),
    ],
)
def test_what_json_refuses(text, line, words):
    error = refused(text, parse_json)
    assert error.where is not None
    assert error.where.line == line
    assert words in str(error)


def test_json_has_lines_and_whole_characters():
    document = parse_json('{\n\t"a": "\\/",\n\t"b": {"c": []}\n}', "f")
    assert str(document.where("b", "c")) == "f:3"
    assert parse_json('{"a": "\\ud83d\\ude00"}', "f").data == {"a": "😀"}


def test_the_error_is_the_one_asked_for():
    with pytest.raises(SnapshotError):
        parse_yaml("a: [", "f", error=SnapshotError)
