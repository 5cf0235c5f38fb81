"""A small S3: one bucket in memory, path style, signatures (version 4) checked. Enough for what Narwal's archive asks."""

from __future__ import annotations

import hashlib
import hmac
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape


class S3:
    """`with S3() as s3:` serves on 127.0.0.1; `objects` holds what was put, by key. With `failing` every request fails."""

    key, secret, bucket = "test-key", "test-secret", "bucket"

    def __init__(self, page: int = 1000):
        self.objects: dict[str, bytes] = {}
        self.failing = False
        self.refused: list[str] = []
        self.page = page
        outer = self

        class Handler(_Handler):
            store = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> S3:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, prefix: str) -> str:
        return f"s3://{self.bucket}/{prefix}?endpoint={self.endpoint}"

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: S3

    def log_message(self, *_) -> None:
        pass

    def do_PUT(self) -> None:
        if (body := self._take()) is not None:
            self.store.objects[self._object()] = body
            self._answer(200, headers={"ETag": _etag(body)})

    def do_GET(self) -> None:
        if self._take() is None:
            return
        query = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if "list-type" in query:
            self._list(query)
        elif (body := self.store.objects.get(self._object())) is not None:
            self._answer(200, body, {"ETag": _etag(body), "Last-Modified": formatdate(usegmt=True)})
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_HEAD = do_GET

    def do_DELETE(self) -> None:
        if self._take() is not None:
            self.store.objects.pop(self._object(), None)
            self._answer(204)

    def _object(self) -> str:
        path = unquote(urlsplit(self.path).path)
        bucket, _, key = path.lstrip("/").partition("/")
        return key if bucket == self.store.bucket else f"{bucket} is no bucket here/{key}"

    def _take(self) -> bytes | None:
        """The request's body, if the request is right."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.store.failing:
            self._answer(503, b"<Error><Code>SlowDown</Code></Error>")
        elif why := self._wrong(body):
            self.store.refused.append(why)
            self._answer(403, f"<Error><Code>AccessDenied</Code><Message>{why}</Message></Error>".encode())
        else:
            return body
        return None

    def _wrong(self, body: bytes) -> str:
        """What is wrong with a request's signature; nothing if it is right."""
        given = self.headers.get("Authorization", "")
        kind, _, fields = given.partition(" ")
        parts = dict(f.strip().split("=", 1) for f in fields.split(",") if "=" in f)
        scope = parts.get("Credential", "").split("/")
        if kind != "AWS4-HMAC-SHA256" or len(scope) != 5 or scope[0] != self.store.key:
            return "no signature by a known key"
        digest = self.headers.get("x-amz-content-sha256", "")
        if digest != hashlib.sha256(body).hexdigest():
            return "the body is not what was signed"
        url = urlsplit(self.path)
        names = parts["SignedHeaders"].split(";")
        pairs = sorted(parse_qsl(url.query, keep_blank_values=True))
        canonical = "\n".join(
            [
                self.command,
                quote(unquote(url.path), safe="/-_.~"),
                "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in pairs),
                *(f"{n}:{' '.join((self.headers.get(n) or '').split())}" for n in names),
                "",
                ";".join(names),
                digest,
            ]
        )
        date = self.headers.get("x-amz-date", "")
        text = "\n".join([kind, date, "/".join(scope[1:]), hashlib.sha256(canonical.encode()).hexdigest()])
        key = f"AWS4{self.store.secret}".encode()
        for part in [*scope[1:], text]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return "" if hmac.compare_digest(key.hex(), parts.get("Signature", "")) else "a wrong signature"

    def _list(self, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys, folders = [], []
        for key in sorted(self.store.objects):
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folder = prefix + rest.split(delimiter)[0] + delimiter
                if folder not in folders:
                    folders.append(folder)
            else:
                keys.append(key)
        items = sorted([(k, False) for k in keys] + [(f, True) for f in folders])
        # As S3 does it a page goes on behind the last key of the one before, whatever came or went meanwhile.
        after = query.get("continuation-token", "")
        items = [i for i in items if i[0] > after]
        page, more = items[: self.store.page], len(items) > self.store.page
        out = [f"<ListBucketResult><Name>{self.store.bucket}</Name><IsTruncated>{str(more).lower()}</IsTruncated>"]
        if more:
            out.append(f"<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>")
        for key, folder in page:
            if folder:
                out.append(f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>")
            else:
                body = self.store.objects[key]
                out.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                    f"<ETag>{escape(_etag(body))}</ETag><Size>{len(body)}</Size></Contents>"
                )
        self._answer(200, "".join([*out, "</ListBucketResult>"]).encode())

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'
