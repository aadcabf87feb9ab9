"""Resources, passed through."""

import asyncio

import pytest
from live_helpers import call, connected

from packbelt.catalog.workspace import Times
from packbelt.live.servers.resources import MAX_RESOURCES, ResourceError

pytestmark = pytest.mark.usefixtures("nothing_left")
ERAS = pytest.mark.parametrize("era", ["initialize", "modern"])


def entries(count, **more):
    return [{"uri": f"file:///{i:03}", "text": f"text {i}", **more} for i in range(count)]


def ask(spec, what, *args, **options):
    async def run():
        async with connected(spec, **options) as connection:
            try:
                return await getattr(connection, what)(*args)
            except ResourceError as error:
                return error

    found = asyncio.run(run())
    if isinstance(found, ResourceError):
        raise found
    return found


@ERAS
def test_lc09_all_pages_of_resources_and_templates(fake, era):
    spec = fake(era=era, resources=entries(70), page=50)
    assert [str(found.uri) for found in ask(spec, "resources")] == [f"file:///{i:03}" for i in range(70)]
    assert len(ask(spec, "resource_templates")) == 70


def test_a_cursor_that_comes_back_ends_the_list(fake):
    assert len(ask(fake(resources=entries(30), page=20, loop=True), "resources")) == 30


def test_there_is_a_limit(fake):
    assert len(ask(fake(resources=entries(MAX_RESOURCES + 9), page=1000), "resources")) == MAX_RESOURCES


@ERAS
def test_one_is_read(fake, era):
    result = ask(fake(era=era, resources=entries(3)), "read_resource", "file:///002")
    (content,) = result.contents
    assert content.text == "text 2"


def test_one_over_the_limit_is_an_error_that_says_so(fake):
    with pytest.raises(
        ResourceError, match=r"resource has 6,\d\d\d,\d\d\d bytes; the limit is 1,048,576 bytes"
    ):
        ask(fake(resources=entries(1, times=1_000_000)), "read_resource", "file:///000")


@pytest.mark.parametrize("what", ["resources", "resource_templates"])
def test_a_server_without_them_says_so(fake, what):
    with pytest.raises(ResourceError, match="resources of server 'fake': no method resources/"):
        ask(fake(), what)


def test_one_that_does_not_answer_in_time(fake):
    times = Times(start=20, list=0.3, shutdown=2)
    with pytest.raises(ResourceError, match=r"did not answer within 0\.3 s"):
        ask(fake(resources=entries(1), hang=["resources/list"]), "resources", times=times)


def test_nothing_is_asked_of_a_server_that_is_gone(fake):
    async def run():
        async with connected(fake(calls={"kill": ["kill"]}, resources=entries(1))) as connection:
            await call(connection, "kill")
            with pytest.raises(ResourceError, match="it is not connected"):
                await connection.resources()

    asyncio.run(run())
