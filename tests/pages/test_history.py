"""The script of the browser's history is in the app's own page, and in nothing else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from pages.shared.history import NAME, SCRIPT, WithHistory


def answered(body: bytes, kind: str, **headers: str) -> tuple[dict, bytes]:
    async def app(scope, receive, send):
        given = {"content-type": kind, "content-length": str(len(body)), **headers}
        raw = [(name.encode(), value.encode()) for name, value in given.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send({"type": "http.response.body", "body": body[:5], "more_body": True})
        await send({"type": "http.response.body", "body": body[5:]})

    sent = []

    async def send(message):
        sent.append(message)

    passed = WithHistory(app)({"type": "http", "method": "GET"}, None, send)
    # In a thread of its own: a browser that other tests opened keeps this one's loop running.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, passed).result()
    got = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return got, b"".join(message.get("body", b"") for message in sent[1:])


PAGE = b"<html><head><title>x</title></head><body></body></html>"


def test_a_page_gets_the_script_and_its_length():
    headers, body = answered(PAGE, "text/html; charset=utf-8")
    assert f'<script src="./{NAME}"></script></head>'.encode() in body
    assert headers["content-length"] == str(len(body))


def test_reports_packed_answers_and_other_files_pass_as_they_are():
    attached = {"content-disposition": "attachment"}
    assert answered(PAGE, "text/html", **attached)[1] == PAGE
    assert answered(PAGE, "text/html", **{"content-encoding": "gzip"})[1] == PAGE
    assert answered(PAGE, "text/javascript")[1] == PAGE
    assert SCRIPT.startswith(b"// Back leads")


def asked_for(path: str) -> list[tuple[bytes, bytes]]:
    """Headers with which Streamlit is asked for a path by a browser that unpacks."""
    seen = []

    async def app(scope, receive, send):
        seen.extend(scope["headers"])

    headers = [(b"accept", b"text/html"), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, WithHistory(app)(scope, None, None)).result()
    return seen


def test_the_page_of_a_deep_link_comes_as_it_is_so_that_the_script_gets_in():
    assert asked_for("/agreement") == [(b"accept", b"text/html")]
    assert asked_for("/") == [(b"accept", b"text/html")]
    assert (b"accept-encoding", b"gzip") in asked_for("/static/js/index.abc.js")
