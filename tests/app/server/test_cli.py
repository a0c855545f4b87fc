"""`llc-lab serve`: what it hands on to Panel, what it refuses, and one real server with sign-in."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import socket
import subprocess
import sys
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from app.server import access, cli, jupyter

ROOT = Path(__file__).resolve().parents[3]


def arguments(*words: str, **environment: str) -> list[str]:
    options, options.others = cli.build_parser().parse_known_args(["serve", *words])
    return cli.server_arguments(options, environment)


def origins(given: list[str]) -> list[str]:
    return [value for option, value in zip(given, given[1:], strict=False) if option == "--allow-websocket-origin"]


def test_defaults_serve_this_machine_only():
    given = arguments()
    assert given[0] == str(ROOT / "app")
    assert given[given.index("--address") + 1] == "localhost"
    assert origins(given) == ["localhost:5006", "127.0.0.1:5006"]
    assert not any(word.startswith(("--basic", "--oauth-provider")) for word in given)


def test_everyone_may_come_by_the_machine_s_names_and_those_given():
    found = origins(arguments("--address", "0.0.0.0", "--port", "80", "--allow-origin", "lab.example.org"))
    assert {"localhost:80", f"{socket.gethostname()}:80", "lab.example.org"} <= set(found)
    assert "*" not in found


def test_every_argument_is_one_of_panel_s():
    import argparse

    from panel.command.serve import Serve

    parser = argparse.ArgumentParser()
    Serve(parser=parser)
    words = ["--prefix", "/lab", "--behind-proxy", "--allow-origin", "a.example", "--auth"]
    basic = arguments(*words, "basic", LLC_LAB_PASSWORD="-secret")
    oauth = arguments(*words, "oauth", "--oauth-key", "k", "--ssl-certfile", "c.pem", PANEL_OAUTH_SECRET="s")
    assert parser.parse_args(basic).basic_auth == "-secret"
    assert (parser.parse_args(oauth).oauth_key, parser.parse_args(oauth).ssl_certfile) == ("k", "c.pem")
    assert "s" not in oauth, "secrets stay out of the arguments"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--oauth-key", "x"], "None is unknown"),
        (["--oauth-provider", "mine"], "choose one of"),
        (["--oauth-provider", "github"], "needs --oauth-key"),
        (["--oauth-provider", "github", "--oauth-key", "k"], "set PANEL_OAUTH_SECRET"),
    ],
)
def test_a_sign_in_elsewhere_that_cannot_work_is_refused(words, message, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["serve", "--port", "0", "--auth", "oauth", *words])
    said = capsys.readouterr().err
    assert caught.value.code == 2 and message in said and said.count("\n") == 1 and said.endswith(".\n")


@pytest.mark.parametrize(
    "words", [["serve", "--oauth-provider", "github"], ["serve", "--prot", "1"], ["report", "--prot"]]
)
def test_what_neither_knows_and_a_provider_without_sign_in_are_refused(words, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2 and capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "environment", "message"),
    [
        (["--port", "70000"], {}, "70000 is not a port"),
        (["--port", "-1"], {}, "-1 is not a port"),
        (["--allow-origin", "https://a.example"], {}, "without http://"),
        (["--allow-origin", "a b"], {}, "is not a host"),
        (["--prefix", "lab/"], {}, "write it like /lab"),
        (["--visitor-memory", "-5"], {}, "-5 is not an amount"),
        (["--auth", "basic"], {}, "set LLC_LAB_PASSWORD"),
        (["--auth", "basic"], {"LLC_LAB_PASSWORD": __file__}, "name of a file"),
        (["--auth", "basic", "--password-file", "/nowhere.json"], {}, "cannot be read"),
        (["--auth", "basic", "--password-file", __file__], {}, "must hold JSON"),
        (["--password-file", "x"], {}, "needs --auth basic"),
    ],
)
def test_bad_options_say_the_remedy(words, environment, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        arguments(*words, **environment)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_a_visitor_s_share_of_memory_reaches_the_app(monkeypatch):
    from panel.command.serve import Serve

    from app.runs import allowance as limits

    monkeypatch.setenv(limits.VISITOR_MEMORY, "")
    monkeypatch.setattr(Serve, "invoke", lambda self, options: None)
    assert cli.main(["serve", "--port", "0", "--visitor-memory", "250"]) == 0
    assert limits.allowance() == 250


@pytest.mark.parametrize(
    ("words", "megabytes"),
    [
        ((), 4000),
        (("--address", "127.0.0.1"), 4000),
        (("--address", "0.0.0.0"), 600),
        (("--allow-origin", "lab.example.org"), 600),
        (("--prefix", "/lab"), 600),
        (("--behind-proxy",), 600),
        (("--allow-websocket-origin", "lab.example.org"), 600),
    ],
)
def test_who_is_alone_has_all_that_runs_may_take(monkeypatch, words, megabytes):
    from panel.command.serve import Serve

    from app.runs import account, allowance

    monkeypatch.setenv(allowance.VISITOR_MEMORY, "")
    monkeypatch.setenv(account.TOTAL_MEMORY, "4000")
    monkeypatch.setattr(Serve, "invoke", lambda self, options: None)
    assert cli.main(["serve", "--port", "0", *words]) == 0
    assert allowance.allowance() == megabytes


@pytest.mark.parametrize(
    ("words", "alone"),
    [
        ("panel serve app", True),
        ("panel serve app --show --port 5007", True),
        ("panel serve app --address=127.0.0.1", True),
        ("panel serve app --address 0.0.0.0", False),
        ("panel serve app --allow-websocket-origin=*", False),
        ("panel serve app --prefix lab --use-xheaders", False),
        ("panel serve app --basic-auth word", False),
        ("panel serve app --oauth-provider github", False),
        ("pytest", False),
    ],
)
def test_panel_s_own_server_is_one_person_s_if_its_options_let_in_nobody_else(words, alone):
    assert access.served_alone(words.split(), {}) == alone
    assert not access.served_alone(words.split(), {access.ORIGINS: "lab.example.org"})


def test_the_hook_of_the_app_gives_one_person_everything(monkeypatch):
    from types import SimpleNamespace

    from app import app_hooks
    from app.runs import account, allowance

    found = []
    context = SimpleNamespace(application_context=SimpleNamespace(application=SimpleNamespace(add=found.append)))
    monkeypatch.setattr("app.window.warmup.start", lambda: None)
    monkeypatch.setenv(account.TOTAL_MEMORY, "4000")
    for words, megabytes in (("panel serve app --address 0.0.0.0", 600), ("panel serve app", 4000)):
        monkeypatch.setenv(account.VISITOR_MEMORY, "")
        monkeypatch.setattr(sys, "argv", words.split())
        app_hooks.on_server_loaded(context)
        assert allowance.allowance() == megabytes
    monkeypatch.setenv(account.VISITOR_MEMORY, "250")
    app_hooks.on_server_loaded(context)
    assert allowance.allowance() == 250, "what the environment says stays"


@pytest.mark.parametrize("text", ["{}", "[]", '{"ada": ""}', '{"ada": 3}', '"ada"', "{"])
def test_password_files_are_looked_at(tmp_path, text):
    path = tmp_path / "users.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="must hold JSON"):
        arguments("--auth", "basic", "--password-file", str(path))


def test_a_busy_port_is_refused_before_anything_starts(capsys):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        with pytest.raises(SystemExit) as caught:
            cli.main(["serve", "--address", "127.0.0.1", "--port", str(busy.getsockname()[1])])
    assert caught.value.code == 2
    assert "choose another port" in capsys.readouterr().err


def test_unknown_addresses_are_refused():
    with pytest.raises(ValueError, match="is not known here"):
        access.check_free("nowhere.invalid", 5006)


@pytest.mark.slow
def test_a_server_lets_in_those_who_know_the_password(tmp_path):
    users = tmp_path / "users.json"
    users.write_text(json.dumps({"ada": "engine"}))
    command = [
        sys.executable,
        "-m",
        "app.server.cli",
        "serve",
        "--port",
        "0",
        "--auth",
        "basic",
        "--password-file",
        str(users),
    ]
    server = subprocess.Popen(
        [*command, "--title", "Class of 1843"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        assert server.stdout is not None and server.stderr is not None
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        base = address.removesuffix("/app")
        for line in server.stderr:
            if "Bokeh app running at" in line:
                break
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

        def read(url: str, data: dict[str, str] | None = None) -> str:
            body = urllib.parse.urlencode(data).encode() if data else None
            return opener.open(url, body, timeout=60).read().decode()

        first = read(address)
        assert "Please sign in" in first and "http" not in first
        assert "Wrong name or password" in read(f"{base}/login", {"username": "ada", "password": "wrong"})
        read(f"{base}/login", {"username": "ada", "password": "engine"})
        assert "<title>Class of 1843</title>" in re.sub(r">\s+|\s+<", lambda m: m[0].strip(), read(address))
    finally:
        server.terminate()
        server.communicate(timeout=20)


def test_the_launcher_s_command_is_one_that_starts():
    """jupyter-server-proxy fills in the port and runs it; the origin it sends must be one the server lets in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["jupyter_serverproxy_servers"] == {"llc-lab": "app.server.jupyter:launcher"}
    assert project["scripts"] == {"llc-lab": "app.server.cli:main"}
    entry = jupyter.launcher()
    words = [word.format(port=8123) for word in entry["command"]]
    assert words[:4] == [sys.executable, "-m", "app.server.cli", "serve"]
    origin = entry["request_headers_override"]["Origin"].format(port=8123)
    assert urllib.parse.urlparse(origin).netloc in origins(arguments(*words[4:]))
    assert Path(entry["launcher_entry"]["icon_path"]).read_text().startswith("<svg")


def test_jupyter_servers_take_the_launcher():
    from jupyter_server_proxy.config import ServerProcess

    process = ServerProcess(name="llc-lab", **jupyter.launcher())
    assert process.launcher_entry.path_info == "llc-lab/app"


def test_the_launcher_does_not_load_panel():
    code = "import sys, app.server.jupyter; app.server.jupyter.launcher(); assert 'panel' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
