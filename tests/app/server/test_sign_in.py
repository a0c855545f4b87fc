"""A served app with a password: guesses wait, cookies are this server's alone, sign-ins end, slow connections are closed."""

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

from app.server.guesses import ADDRESS, NAME

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


def sign_in(server: Served, name: str, word: str, address: str, **headers: str) -> http.client.HTTPResponse:
    form = urlencode({"username": name, "password": word})
    return ask(server, "POST", "/login", form, X_Forwarded_For=address, **headers)


def cookies(answer: http.client.HTTPResponse) -> SimpleCookie:
    found: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_all("Set-Cookie") or ():
        found.load(line)
    return found


@pytest.mark.slow
def test_guesses_at_a_name_are_not_looked_at_any_more(server):
    answers = [sign_in(server, "ada", f"guess {k}", f"192.0.2.{k}") for k in range(NAME.free + 20)]
    assert [answer.status for answer in answers[: NAME.free]] == [302] * NAME.free
    refused = answers[-1]
    assert refused.status == 429 and int(refused.headers["Retry-After"]) >= 1
    assert "Too many wrong passwords. Please wait" in refused.body and "http" not in refused.body
    assert sign_in(server, "ada", "engine", "192.0.2.99").status == 429, "not even the right one"
    assert "user" in cookies(sign_in(server, "grace", "compiler", "192.0.2.1")), "others come in"


def test_guesses_from_an_address_are_not_looked_at_any_more(server):
    answers = [sign_in(server, f"name {k}", "guess", "198.51.100.1") for k in range(ADDRESS.free + 20)]
    assert sum(answer.status != 429 for answer in answers) <= ADDRESS.free + 3
    assert answers[-1].status == 429
    assert "user" in cookies(sign_in(server, "grace", "compiler", "198.51.100.2"))


def test_cookies_are_for_this_server_and_for_two_hours(server):
    for protocol in ("http", "https"):
        found = cookies(sign_in(server, "grace", "compiler", "203.0.113.1", X_Forwarded_Proto=protocol))
        assert {"user", "id_token"} <= set(found)
        for name in ("user", "id_token"):
            assert found[name]["httponly"] and found[name]["samesite"] == "Lax"
            assert bool(found[name]["secure"]) == (protocol == "https")
            expires = time.mktime(time.strptime(found[name]["expires"], "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
            assert 0 < expires - time.time() <= 2 * 3600


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
        assert "user" not in cookies(sign_in(server, "grace", word, "203.0.113.7"))
    assert "user" in cookies(sign_in(server, "grace", "compiler", "203.0.113.7"))
    assert "user" not in cookies(sign_in(server, "nobody", "", "203.0.113.8"))


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
