"""Behind JupyterLab's proxy the app lives under a prefix that it never hears of, such as /user/ada/proxy/5006/app."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin

import pytest
from served import Served

from app.server.jupyter import launcher

pytestmark = pytest.mark.slow  # a server of its own, behind a second one

pytest.importorskip("panel")
tornado = pytest.importorskip("tornado")

PREFIX = "/user/ada/proxy/5006"


class Proxy:
    """Takes PREFIX away from paths and hands requests and websockets on, answers as they are; everything else is not found."""

    def __init__(self, behind: str):
        self.behind, self.asked = behind, []
        self._ready = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        assert self._ready.wait(20)

    def _serve(self) -> None:
        from tornado.httpclient import AsyncHTTPClient, HTTPRequest
        from tornado.httpserver import HTTPServer
        from tornado.netutil import bind_sockets
        from tornado.web import Application, RequestHandler
        from tornado.websocket import WebSocketHandler, websocket_connect

        proxy = self

        class Socket(WebSocketHandler):
            """The launcher has the proxy speak in the app's own name, so the browser's origin does not matter."""

            def check_origin(self, origin: str) -> bool:
                return True

            def select_subprotocol(self, offered: list[str]) -> str | None:
                self.offered = offered
                return offered[0] if offered else None

            async def open(self, path: str) -> None:
                address = f"{proxy.behind.replace('http', 'ws', 1)}/{path}/ws"
                port = proxy.behind.rpartition(":")[2]
                said = launcher()["request_headers_override"].items()
                headers = {"Origin": "https://hub.example", **{name: text.format(port=port) for name, text in said}}
                self.far = await websocket_connect(
                    HTTPRequest(address, headers=headers, request_timeout=60), subprotocols=self.offered,
                    on_message_callback=lambda message: message is not None and self.write_message(message),
                )  # fmt: skip

            async def on_message(self, message: str | bytes) -> None:
                await self.far.write_message(message)

            def on_close(self) -> None:
                if hasattr(self, "far"):
                    self.far.close()

        class Handler(RequestHandler):
            async def get(self, path: str) -> None:
                proxy.asked.append(self.request.uri)
                query = f"?{self.request.query}" if self.request.query else ""
                found = await AsyncHTTPClient().fetch(
                    f"{proxy.behind}/{path}{query}", raise_error=False, follow_redirects=False, request_timeout=60
                )
                self.set_status(found.code)
                for name in ("Content-Type", "Location"):
                    if name in found.headers:
                        self.set_header(name, found.headers[name])
                self.write(found.body or b"")

        async def serve() -> None:
            sockets = bind_sockets(0, "127.0.0.1", family=socket.AF_INET)
            self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
            HTTPServer(Application([(f"{PREFIX}/(.*)/ws", Socket), (f"{PREFIX}/(.*)", Handler)])).add_sockets(sockets)
            self._ready.set()
            self._loop = asyncio.get_running_loop()
            self._end = asyncio.Event()
            await self._end.wait()

        asyncio.run(serve())

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end.set)


@pytest.fixture(scope="module")
def page():
    """(the page's address behind the proxy, its HTML)"""
    served = Served()
    proxy = Proxy(served.base)
    try:
        address = f"{proxy.url}{PREFIX}/app"
        with urllib.request.urlopen(address, timeout=120) as answer:
            yield address, answer.read().decode()
    finally:
        proxy.close()
        served.close()


def addresses(html: str) -> list[str]:
    return [found for found in re.findall(r'(?:src|href)="([^"]+)"', html) if not found.startswith("data:")]


def outside(html: str) -> list[str]:
    """Addresses that leave the prefix: a browser takes them from the host's root, or from another host."""
    return [found for found in addresses(html) if found.startswith("/") or "://" in found]


def test_all_that_the_page_loads_lies_under_the_prefix(page):
    address, html = page
    assert len(addresses(html)) > 8 and not outside(html)
    for found in addresses(html):
        with urllib.request.urlopen(urljoin(address, found), timeout=60) as answer:
            assert answer.status == 200 and urljoin(address, found).startswith(address.removesuffix("/app"))


def test_an_address_from_the_root_would_be_found():
    assert outside('<script src="/static/js/bokeh.min.js"></script>') and not outside('<img src="static/a.png">')


def test_the_root_leads_to_the_app_under_the_prefix(page):
    address, _ = page
    root = address.removesuffix("app")
    with urllib.request.urlopen(root, timeout=60) as answer:
        assert answer.url.startswith(root), "a redirect from the root of the host leaves the prefix"


def test_the_page_names_no_host_for_its_websocket(page):
    """Bokeh takes it from the address of the window unless the page names one."""
    _, html = page
    items = json.loads(re.search(r"render_items = (\[.*?\]);", html)[1])
    assert items and not any("server_url" in item or "absolute_url" in item for item in items)
    assert "ws://" not in html and "wss://" not in html


def test_a_session_opens_through_the_proxy(page):
    """As the browser does it: from the address of the window, with the page's own token. The server greets and answers."""
    from bokeh.protocol import Protocol
    from tornado.websocket import websocket_connect

    address, html = page
    token = re.search(r'"token":"([^"]+)"', html)[1]

    async def greeted() -> tuple[str, str]:
        socket = await websocket_connect(f"{address.replace('http', 'ws', 1)}/ws", subprotocols=["bokeh", token])
        greeting = [await socket.read_message() for _ in range(3)]
        asked = Protocol().create("PULL-DOC-REQ")
        for part in (asked.header_json, asked.metadata_json, asked.content_json):
            await socket.write_message(part)
        answer = await socket.read_message()
        while json.loads(answer).get("reqid") != asked.header["msgid"]:
            answer = await socket.read_message()
        socket.close()
        return json.loads(greeting[0])["msgtype"], json.loads(answer)["msgtype"]

    # In a thread of its own: tests in a browser leave their event loop in this one.
    with ThreadPoolExecutor(1) as alone:
        found = alone.submit(lambda: asyncio.run(asyncio.wait_for(greeted(), 60))).result()
    assert found == ("ACK", "PULL-DOC-REPLY")


def test_what_is_not_under_the_prefix_is_not_there(page):
    address, _ = page
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(address.replace(PREFIX, ""), timeout=60)
