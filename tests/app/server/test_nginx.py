"""The example file of a web server in front: it does what the app leaves to it, and fits the command that stands in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from app.server.cli import build_parser, server_arguments

FILE = Path(__file__).resolve().parents[3] / "docs/how-to/nginx.conf"


def parsed(text: str) -> list[list[Any]]:
    """Directives as lists of words; that of a block ends in the list of its own."""
    levels: list[list[list[Any]]] = [[]]
    words: list[Any] = []
    for word in re.findall(r'"[^"]*"|[;{}]|[^\s;{}"]+', re.sub(r"(?m)#.*$", "", text)):
        if word == "}":
            assert not words, "a directive without its semicolon"
            levels.pop()
        elif word in ";{":
            levels[-1].append(words)
            if word == "{":
                levels.append([])
                words.append(levels[-1])
            words = []
        else:
            words.append(word.strip('"'))
    assert len(levels) == 1 and not words, "a block that is not closed"
    return levels[0]


TOP = parsed(FILE.read_text(encoding="utf-8"))
SERVERS = [words[-1] for words in TOP if words[0] == "server"]
(SERVER,) = [found for found in SERVERS if ["listen", "443", "ssl"] in found]
(PLACE,) = [words[-1] for words in SERVER if words[:2] == ["location", "/"]]


def test_everything_goes_by_tls():
    (plain,) = [found for found in SERVERS if found is not SERVER]
    assert ["return", "301", "https://$host$request_uri"] in plain
    assert {"ssl_certificate", "ssl_certificate_key"} <= {words[0] for words in SERVER}
    assert ["proxy_cookie_flags", "~", "httponly", "samesite=lax", "secure"] in PLACE


def test_guesses_are_slowed_down_and_nothing_else():
    assert ["map", "$request_method", "$guesses", [["POST", "$binary_remote_addr"], ["default", ""]]] in TOP
    assert ["limit_req_zone", "$guesses", "zone=guesses:10m", "rate=2r/m"] in TOP
    assert ["limit_req", "zone=guesses", "burst=20", "nodelay"] in PLACE


def test_scripts_and_style_sheets_are_compressed():
    assert ["gzip", "on"] in SERVER
    (kinds,) = [words for words in SERVER if words[0] == "gzip_types"]
    assert {"text/css", "text/javascript", "application/javascript"} <= set(kinds)


def test_websockets_and_the_visitor_s_address_are_handed_on():
    sent = {words[1]: words[2] for words in PLACE if words[0] == "proxy_set_header"}
    assert (sent["Upgrade"], sent["Connection"]) == ("$http_upgrade", "$connection_upgrade")
    assert ["proxy_http_version", "1.1"] in PLACE
    assert sent["X-Real-IP"] == sent["X-Forwarded-For"] == "$remote_addr", "what a visitor says of it is replaced"
    assert (sent["Host"], sent["X-Forwarded-Proto"]) == ("$host", "$scheme")


def test_the_app_s_command_fits(tmp_path):
    command = re.search(r"llc-lab (serve .*)", FILE.read_text(encoding="utf-8"))[1].split()
    options = build_parser().parse_args(command)
    (tmp_path / "users.json").write_text('{"ada": "engine"}')
    options.password_file = tmp_path / "users.json"
    arguments = server_arguments(options, {})
    assert "--use-xheaders" in arguments and "--basic-auth" in " ".join(arguments)
    assert ["proxy_pass", f"http://127.0.0.1:{options.port}"] in PLACE
    (name,) = {words[1] for found in SERVERS for words in found if words[0] == "server_name"}
    assert name in arguments, "the browser's address is one that the app lets in"
