"""The server answers this machine, in JSON, and gives nothing else away."""

import json
import shutil
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from random import Random
from socket import SHUT_WR, create_connection
from threading import Thread
from urllib.parse import urlencode

import pytest

from georecall.errors import GeorecallError
from georecall.explorer import ExplorerServer, open_view
from georecall.explorer.page import served_page


@pytest.fixture(scope="module")
def server(family_view) -> Iterator[ExplorerServer]:
    with ExplorerServer(family_view) as started:
        thread = Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield started
        started.shutdown()
        thread.join()


def ask(
    server: ExplorerServer, path: str, *, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(*server.server_address, timeout=10)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def answer(server: ExplorerServer, path: str, **query: object) -> object:
    response, content = ask(server, f"{path}?{urlencode(query)}")
    assert response.status == 200
    return json.loads(content)


def test_only_this_machine_can_connect(server):
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_is_at_the_root(server, family_view):
    response, content = ask(server, "/")
    assert response.status == 200
    assert content.decode() == served_page(family_view)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
@pytest.mark.parametrize("path", ["/", "/search?kind=subjects&text="])
def test_a_request_by_another_name_is_refused(server, host, path):
    response, content = ask(server, path, Host=host)
    assert response.status == 421
    assert b"Alice" not in content


def test_a_request_by_the_name_of_this_machine_is_answered(server):
    assert ask(server, "/", Host="localhost:1")[0].status == 200


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/../../etc/passwd", "//x", "/page", "/search/", "/favicon.ico"]
)
def test_nothing_else_is_there(server, path):
    response, content = ask(server, path)
    assert response.status == 404
    assert json.loads(content) == {"error": "nothing is here"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_only_reading_is_possible(server, method):
    assert ask(server, "/", method=method)[0].status == 501


@pytest.mark.parametrize("path", ["/", "/none", "/subject?id=x"])
def test_every_answer_forbids_what_the_page_does_not_need(server, path):
    headers = ask(server, path)[0].headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers["Server"]


def test_what_is_asked_for_is_what_the_view_says(server, family_view):
    (alice,) = answer(server, "/search", kind="subjects", text="Alice")
    assert answer(server, "/subject", id=alice["id"]) == family_view.subject(alice["id"])
    assert answer(server, "/attribute", id=3) == family_view.attribute(3)
    state = family_view.outputs[9]
    found = answer(server, "/top", state=",".join(map(str, state.tolist())), count=4)
    assert found == family_view.top(state, 4)


@pytest.mark.parametrize(
    "query",
    [
        "search",
        "search?kind=relations&text=a",
        "search?kind=subjects&text=a&text=b",
        "subject?id=-1",
        "subject?id=1e3",
        "subject?id=999999999999999999",
        "subject?id=99999999999999999999999999999999",
        "attribute?id=%D9%A3",
        "top?count=3&state=",
        "top?count=3&state=1,2,nan",
        "top?count=3&state=1,2,x",
        "top?count=3&state=1,2",
        "top?count=0&state=0,0,0,0,0,0,0,0,0,0,0,0,0,0",
    ],
)
def test_a_question_without_sense_is_refused_with_the_reason(server, query):
    response, content = ask(server, f"/{query}")
    assert response.status == 400
    assert json.loads(content)["error"].startswith("expected ")


def test_bytes_that_are_no_text_find_nothing(server):
    response, content = ask(server, "/search?kind=subjects&text=%ed%a0%80%ff")
    assert (response.status, json.loads(content)) == (200, [])


def test_a_port_that_is_taken_is_refused(server, family_view):
    with pytest.raises(
        GeorecallError, match=r"cannot listen on 127\.0\.0\.1, port \d+ .*; give another --port"
    ):
        ExplorerServer(family_view, port=server.server_address[1])


def raw(server: ExplorerServer, request: bytes) -> bytes:
    """What is answered to bytes that need be no request."""
    with create_connection(server.server_address, timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "request_line",
    [
        b"nonsense",
        b"GET",
        b"GET / HTTP/9",
        b"GET / / HTTP/1.1",
        b"G\x1b[31mT /",
        b"\xff\xfe",
        b"GET / HTTP/1.1.1",
    ],
)
def test_a_request_that_is_none_is_refused_with_a_plain_line(server, request_line):
    head, _, content = raw(server, request_line + b"\r\n\r\n").partition(b"\r\n\r\n")
    assert int(head.split()[1]) in {400, 501, 505}
    assert json.loads(content)["error"].isprintable()
    assert b"\x1b" not in head + content


@pytest.mark.parametrize(
    ("headers", "status"),
    [(b"X: y\r\n" * 200, 431), (b"X: " + b"y" * 70_000 + b"\r\n", 431), (b"Host: [\r\n", 421)],
    ids=["very many headers", "a very long header", "a host that is none"],
)
def test_headers_beyond_all_measure_are_refused(server, headers, status):
    head, _, content = raw(server, b"GET / HTTP/1.1\r\n" + headers).partition(b"\r\n\r\n")
    assert int(head.split()[1]) == status
    assert json.loads(content)["error"]


@pytest.mark.parametrize("number", ["1e39", "-1e39", "1e400", "3e38", "nan", "9" * 400])
def test_a_state_that_overflows_is_refused_and_nothing_is_printed(server, family_view, number, capfd):
    state = ",".join([number] * family_view.outputs.shape[1])
    response, content = ask(server, f"/top?count=3&state={state}")
    assert (response.status, capfd.readouterr().err) == (400, "")
    assert json.loads(content)["error"].startswith("expected ")


def test_whatever_is_asked_is_answered_and_the_server_goes_on(server, capfd):
    rng = Random(0)  # noqa: S311
    paths = ["/", "/search", "/subject", "/attribute", "/top", "//[", "/%ff", "/\x1b", "*", "http://[::1"]
    values = ["1", "-1", "1e999", "9" * 400, "nan", "%ff%fe", "%00", "&", "=", "a" * 999, "1," * 14, ""]
    names = ["id", "kind", "text", "count", "state", "%ff"]
    for _ in range(300):
        query = "&".join(f"{rng.choice(names)}={rng.choice(values)}" for _ in range(rng.randrange(4)))
        line = f"GET {rng.choice(paths)}?{query} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode("latin-1")
        if rng.random() < 0.5:
            place = rng.randrange(len(line))
            line = line[:place] + rng.randbytes(rng.randrange(4)) + line[place + rng.randrange(3) :]
        answered = raw(server, line)
        assert not answered or int(answered.split()[1]) in {200, 400, 404, 421, 431, 501, 505}, line
    assert ask(server, "/")[0].status == 200
    assert capfd.readouterr().err == ""


def test_a_memory_whose_folder_is_gone_is_still_answered(family, tmp_path):
    folder = tmp_path / "family"
    family.save(folder)
    with ExplorerServer(open_view(folder)) as started:
        thread = Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        shutil.rmtree(folder)
        (alice,) = answer(started, "/search", kind="subjects", text="Alice")
        assert answer(started, "/subject", id=alice["id"])["name"] == "Alice"
        started.shutdown()
        thread.join()
