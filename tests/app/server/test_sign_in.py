"""A served app with a password: no script reads a cookie, sign-ins end, slow connections are closed."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest
from served import Served
from tornado.web import create_signed_value

pytestmark = pytest.mark.long

SECRET = "a secret of this test alone, long enough for a signature"
QUICK = "import app.server.serving as s; s.SLOWEST_SECONDS = 0.5"
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    users = tmp_path_factory.mktemp("users") / "users.json"
    users.write_text(json.dumps({"ada": "engine", "grace": "compiler"}))
    words = ["--auth", "basic", "--password-file", str(users), "--behind-proxy", "--session-hours", "2"]
    made = Served(*words, before=QUICK, PANEL_COOKIE_SECRET=SECRET)
    yield made
    made.close()


def ask(server: Served, method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("localhost", server.port, timeout=PATIENCE_SECONDS)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    if body:
        names["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, body or None, names)
    answer = connection.getresponse()
    answer.body = answer.read().decode()  # type: ignore[attr-defined]
    return answer


def sign_in(server: Served, name: str, word: str) -> http.client.HTTPResponse:
    return ask(server, "POST", "/login", urlencode({"username": name, "password": word}))


def cookies(answer: http.client.HTTPResponse) -> SimpleCookie:
    found: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_all("Set-Cookie") or ():
        found.load(line)
    return found


@pytest.mark.slow
def test_cookies_are_for_two_hours_and_no_script_s(server):
    found = cookies(sign_in(server, "grace", "compiler"))
    for name in ("user", "id_token"):
        assert found[name]["httponly"]
        expires = time.mktime(time.strptime(found[name]["expires"], "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
        assert 0 < expires - time.time() <= 2 * 3600


@pytest.mark.slow
def test_a_sign_in_ends_whatever_the_browser_keeps(server):
    def status(hours_ago: float) -> int:
        def clock() -> float:
            return time.time() - 3600 * hours_ago

        value = create_signed_value(SECRET, "user", "ada", clock=clock).decode()
        return ask(server, "GET", "/app", Cookie=f"user={value}").status

    assert status(0.1) == 200
    assert status(2.1) == 302


def test_a_wrong_password_that_begins_like_the_right_one_is_wrong(server):
    for word in ("", "compile", "compilers"):
        assert "user" not in cookies(sign_in(server, "grace", word))
    assert "user" in cookies(sign_in(server, "grace", "compiler"))
    assert "user" not in cookies(sign_in(server, "nobody", ""))


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /app HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nusername=",
    ],
    ids=["nothing", "half a head", "half a form"],
)
def test_a_connection_that_says_nothing_is_closed(server, sent):
    with socket.create_connection(("localhost", server.port), timeout=PATIENCE_SECONDS) as slow:
        slow.sendall(sent)
        assert slow.recv(1000) == b""


def test_a_body_that_no_form_has_is_refused(server):
    with socket.create_connection(("localhost", server.port), timeout=PATIENCE_SECONDS) as large:
        large.sendall(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n\r\n")
        assert b"200 OK" not in large.recv(1000)
