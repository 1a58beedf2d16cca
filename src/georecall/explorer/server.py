"""A server for one page on this machine alone: it reads, answers in JSON, and touches no file."""

import json
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import numpy as np

from georecall.errors import GeorecallError
from georecall.escaping import escaped, traceback_lines
from georecall.explorer.page import policy, served_page
from georecall.explorer.view import View

ADDRESS = "127.0.0.1"
HOSTS = {ADDRESS, "localhost"}
MOST_SCORES = 100
SECONDS_IDLE = 30


class ExplorerServer(ThreadingHTTPServer):
    """Serves a view at `url` until it is shut down.

    Raises:
        GeorecallError: the port is taken; 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, view: View, *, port: int = 0) -> None:
        self.view = view
        self.page = served_page(view).encode()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise GeorecallError(
                f"cannot listen on {ADDRESS}, port {port} ({error.strerror}); give another --port"
            ) from error

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A page that went away in the middle of an answer is no error; any other fault is printed."""
        if not isinstance(sys.exception(), OSError):
            sys.stderr.write("".join(f"{line}\n" for line in traceback_lines()))


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer
    server_version, sys_version = "georecall", ""
    default_request_version = "HTTP/1.0"  # a request that names none is answered with a status all the same
    timeout = SECONDS_IDLE

    def do_GET(self) -> None:
        """The page, or one answer in JSON; a name that is not this machine's could be a page elsewhere."""
        if self.headers.get("Host", "").partition(":")[0] not in HOSTS:
            self._send_json(
                HTTPStatus.MISDIRECTED_REQUEST, {"error": f"expected a request to {self.server.url}"}
            )
            return
        path, _, query = self.path.partition("?")
        if path == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
            return
        try:
            self._send_json(*_answer(self.server.view, path, parse_qs(query, keep_blank_values=True)))
        except GeorecallError as error:
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": str(error)})

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the library refuses by itself, such as a malformed request, in JSON like everything else."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send_json(status, {"error": escaped(message or status.phrase)})

    def _send_json(self, status: HTTPStatus, content: Any) -> None:
        self._send(status, "application/json", json.dumps(content, allow_nan=False).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy(connect="'self'") + "; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed for each request."""


def _answer(view: View, path: str, asked: Mapping[str, list[str]]) -> tuple[HTTPStatus, Any]:
    """What is found at a path; GeorecallError for a question that cannot be answered."""
    match path:
        case "/search":
            return HTTPStatus.OK, view.search(_one(asked, "kind"), _one(asked, "text"))
        case "/subject":
            return HTTPStatus.OK, view.subject(_integer(asked, "id"))
        case "/attribute":
            return HTTPStatus.OK, view.attribute(_integer(asked, "id"))
        case "/top":
            count = min(_integer(asked, "count"), MOST_SCORES)
            return HTTPStatus.OK, view.top(_numbers(asked, "state"), count)
        case _:
            return HTTPStatus.NOT_FOUND, {"error": "nothing is here"}


def _one(asked: Mapping[str, list[str]], name: str) -> str:
    values = asked.get(name, [])
    if len(values) != 1:
        raise GeorecallError(f"expected one {name}, got {len(values)}")
    return values[0]


def _integer(asked: Mapping[str, list[str]], name: str) -> int:
    text = _one(asked, name)
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise GeorecallError(f"expected a whole number for {name}, got {text!r}")
    return int(text)


def _numbers(asked: Mapping[str, list[str]], name: str) -> np.ndarray:
    """Numbers with commas between them."""
    try:
        numbers = np.array([float(part) for part in _one(asked, name).split(",")])
    except ValueError as error:
        raise GeorecallError(f"expected numbers and commas for {name} ({error})") from error
    if not (np.abs(numbers) <= np.finfo(np.float32).max).all():
        raise GeorecallError(f"expected finite numbers of float32 for {name}")
    return numbers.astype(np.float32)
