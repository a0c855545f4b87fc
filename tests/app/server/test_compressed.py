"""What browsers get of a static file: itself first, then a compressed copy, and itself again where it is no smaller."""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, StaticFileHandler

from app.server.compressed import serve_compressed

SCRIPT = b"const answer = 42\n" * 2000


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Gives the answers to requests, one after the other; between them all copies are made."""
    monkeypatch.setattr(StaticFileHandler, "validate_absolute_path", StaticFileHandler.validate_absolute_path)
    shelf = serve_compressed()
    (tmp_path / "long.js").write_bytes(SCRIPT)
    (tmp_path / "short.js").write_bytes(SCRIPT[:100])
    (tmp_path / "picture.png").write_bytes(SCRIPT)

    async def asked(name: str, times: int, headers: dict[str, str]) -> list[HTTPResponse]:
        socket, port = bind_unused_port()
        server = HTTPServer(Application([("/(.*)", StaticFileHandler, {"path": str(tmp_path)})]))
        server.add_socket(socket)
        found = []
        for _ in range(times):
            address = f"http://127.0.0.1:{port}/{name}"
            found.append(await AsyncHTTPClient().fetch(address, headers=headers, decompress_response=False))
            shelf.wait()
        server.stop()
        return found

    def ask(name: str, times: int = 2, **headers: str) -> list[HTTPResponse]:
        with ThreadPoolExecutor(1) as thread:  # tests in a browser leave a loop that runs in the main one
            return thread.submit(asyncio.run, asked(name, times, headers)).result()

    return ask


def test_the_second_answer_is_a_compressed_copy(answers):
    first, second = answers("long.js", **{"Accept-Encoding": "gzip, deflate, br"})
    assert first.body == SCRIPT and "Content-Encoding" not in first.headers
    assert second.headers["Content-Encoding"] == "gzip" and second.headers["Vary"] == "Accept-Encoding"
    assert second.headers["Content-Type"] == first.headers["Content-Type"]
    assert len(second.body) < len(SCRIPT) / 10 and gzip.decompress(second.body) == SCRIPT
    assert first.headers["Etag"] != second.headers["Etag"]


def test_who_cannot_read_it_gets_the_file(answers):
    assert [answer.body for answer in answers("long.js")] == [SCRIPT, SCRIPT]


@pytest.mark.parametrize("name", ["short.js", "picture.png"])
def test_what_is_short_or_no_text_stays_as_it_is(answers, name):
    for answer in answers(name, **{"Accept-Encoding": "gzip"}):
        assert "Content-Encoding" not in answer.headers and SCRIPT.startswith(answer.body)


def test_a_copy_that_could_not_be_made_is_done_without(answers, monkeypatch):
    monkeypatch.setattr(gzip, "open", lambda *_, **__: (_ for _ in ()).throw(OSError("No space left on device")))
    assert [answer.body for answer in answers("long.js", **{"Accept-Encoding": "gzip"})] == [SCRIPT, SCRIPT]
