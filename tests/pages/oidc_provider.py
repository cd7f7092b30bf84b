"""A small OpenID Connect provider on loopback, which signs in whoever the test says."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "appellate", "of the client"


class Provider:
    """`user` is who the next sign-in is; `asked` counts requests by path."""

    def __init__(self) -> None:
        self.user: dict[str, Any] = {}
        self.asked: dict[str, int] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})
        self._nonces: dict[str, tuple[str, dict[str, Any]]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self)

            def do_POST(self) -> None:
                provider.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        address = urlsplit(request.path)
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0)).decode()
        given = {name: values[0] for name, values in parse_qs(address.query + "&" + body).items()}
        self.asked[address.path] = self.asked.get(address.path, 0) + 1
        if address.path == "/authorize":
            code = f"code {len(self._nonces)}"
            self._nonces[code] = given.get("nonce", ""), dict(self.user)
            back = urlencode({"code": code, "state": given["state"]})
            request.send_response(302)
            request.send_header("Location", f"{given['redirect_uri']}?{back}")
            request.end_headers()
            return
        found = {
            "/.well-known/openid-configuration": self._configuration,
            "/jwks": lambda _: {"keys": [self.key.as_dict(private=False)]},
            "/token": self._token,
        }.get(address.path)
        content = json.dumps(found(given) if found else {}).encode()
        request.send_response(200 if found else 404)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _configuration(self, _: dict[str, str]) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def _token(self, given: dict[str, str]) -> dict[str, Any]:
        nonce, user = self._nonces.pop(given["code"])
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "1",
            "iat": now,
            "exp": now + 600,
            "nonce": nonce,
        }
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims | user, self.key)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": token}
