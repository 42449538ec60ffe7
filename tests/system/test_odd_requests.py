"""Odd requests are refused as they should be, by nginx or by the edge, and never answered with another's answer."""

import json
import socket

import pytest

from tests.system.conftest import Running

pytestmark = pytest.mark.xdist_group("stack")


HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"


def send(stack: Running, raw: bytes, *, seconds: float = 15.0) -> bytes:
    with socket.create_connection(("127.0.0.1", stack.port), timeout=seconds) as line:
        line.sendall(raw)
        answer = b""
        try:
            while chunk := line.recv(65536):
                answer += chunk
        except ConnectionResetError:
            return answer
    return answer


CHUNKED = b" /v1/health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(("size", "method"), [(10_000, b"GET"), (10_000_000, b"POST")])
def test_a_large_chunk_extension_is_refused(stack: Running, size: int, method: bytes) -> None:
    extended = b"5;" + b"a" * size + b"\r\nabcde\r\n0\r\n\r\n"
    head, _, body = send(stack, method + CHUNKED + extended).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 "), head
    assert json.loads(body)["type"].endswith("/content-too-large")


def test_a_strangers_file_is_refused_before_it_is_sent(stack: Running) -> None:
    begun = b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nnone\r\n--x\r\n'
    fields = b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000000\r\n\r\n"
    answer = send(stack, b"POST /dashboard/data HTTP/1.1\r\n" + HOST + fields + begun)
    assert answer.startswith(b"HTTP/1.1 403 "), answer[:200]


@pytest.mark.parametrize("size", [1, 16, 4096])
def test_a_body_in_chunks_of_any_size_is_not_refused_for_its_framing(stack: Running, size: int) -> None:
    content = b'{"iids":[' + b" " * 60_000 + b'"x"]}'
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    head = CHUNKED.replace(b"/v1/health", b"/v1/index/lookup").replace(
        HOST, HOST + b"Content-Type: application/json\r\n"
    )
    token = b"X-Service-Public-Token: iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK\r\n"
    answer = send(stack, b"POST" + head.replace(HOST, HOST + token) + chunks + b"0\r\n\r\n")
    assert answer.split()[1] in (b"401", b"403"), answer  # what is wrong is that a batch needs a key


@pytest.mark.parametrize(
    "target",
    [
        b"/v1/index/lookup/IID-A%2FB",
        b"/v1/index/lookup/%2e%2e/health",
        b"/v1/index/lookup/IID-A%0A",
        b"/v1//health",
        b"/v1/index/lookup/%c0%af",
        b"/v1/index/search?q=%00a",
    ],
)
def test_odd_targets_are_refused_and_never_500(stack: Running, target: bytes) -> None:
    token = b"X-Service-Public-Token: iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK\r\n"
    answer = send(stack, b"GET " + target + b" HTTP/1.1\r\n" + HOST + token + b"\r\n")
    status = int(answer.split()[1])
    assert 400 <= status < 500, answer
    assert b"application/problem+json" in answer


def test_pipelined_requests_are_answered_in_order(stack: Running) -> None:
    one = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    two = b"GET /v1/errors/not-found HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    answer = send(stack, one + two)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.index(b'"status":"ok"') < answer.index(b'"slug":"not-found"')
