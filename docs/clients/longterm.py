"""A client of longterm in one file: Python 3.9 or newer, standard library only. Copy it into your project.

    from longterm import Longterm

    lt = Longterm()                          # the daemon's socket; or Longterm(url="http://127.0.0.1:7718", token="lt_…")
    shell = lt.start(name="build", cwd="/src")
    done = lt.exec("build", "make test", timeout=600)
    print(done["exit_code"], done["output"])

Answers are the JSON of the HTTP API (docs/openapi.json) as dicts. What goes wrong is raised as Error, with the code of
docs/errors.md. Times are seconds. The daemon has to run: `longterm daemon start`.
"""

import http.client
import json
import os
import socket
import time
import uuid
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Longterm", "Error"]


class Error(Exception):
    """What the daemon refused: code, message and what to do about it."""

    def __init__(self, status, body):
        self.status = status
        self.code = body.get("code", "internal")
        self.message = body.get("message", "")
        self.hint = body.get("hint", "")
        self.retry = body.get("retry", False)
        self.body = body
        super().__init__(self.message + ("; " + self.hint if self.hint else ""))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("longterm", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def socket_path():
    """Where the daemon's socket is."""
    if os.environ.get("LONGTERM_DIR"):
        return os.path.join(os.path.abspath(os.environ["LONGTERM_DIR"]), "run", "daemon.sock")
    if os.path.isabs(os.environ.get("XDG_RUNTIME_DIR", "")):
        return os.path.join(os.environ["XDG_RUNTIME_DIR"], "longterm", "daemon.sock")
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "longterm", "run", "daemon.sock")


class Longterm:
    """The daemon. Each call makes a connection of its own: it may be used from any thread."""

    def __init__(self, path=None, url=None, token=None, agent=None, patience=30):
        """path is the daemon's socket; url and token are for one that serves TCP (http.listen). agent labels an agent's
        requests. patience is how long requests that may be repeated are, while the daemon is being replaced."""
        self._path = path or socket_path()
        self._url = urlsplit(url) if url else None
        self._patience = patience
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        agent = agent or os.environ.get("LONGTERM_AGENT")
        if agent:
            self._headers["Longterm-Agent"] = agent

    # Requests.

    def _connect(self, timeout):
        if self._url is None:
            return _UnixConnection(self._path, timeout)
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname, self._url.port, timeout=timeout)

    def request(self, method, path, body=None, query=None, timeout=None, again=None):
        """Any request of the API: path is below /v1. again says that it may be made twice (default: GET)."""
        again = method == "GET" if again is None else again
        pairs = {k: _word(v) for k, v in (query or {}).items() if v is not None}
        path = "/v1" + path + ("?" + urlencode(pairs, doseq=True) if pairs else "")
        until = time.monotonic() + self._patience
        while True:
            conn = self._connect(timeout)
            try:
                conn.request(method, path, None if body is None else json.dumps(body), self._headers)
                response = conn.getresponse()
                data = response.read()
                if response.status < 400:
                    json_body = response.headers.get_content_type() == "application/json"
                    return json.loads(data) if json_body else data
                failed = Error(response.status, _error(data))
                if not failed.retry:
                    raise failed
            except (OSError, http.client.HTTPException) as err:
                if isinstance(err, socket.timeout) or not again and not isinstance(err, (ConnectionRefusedError, FileNotFoundError)):
                    raise
                failed = err
            finally:
                conn.close()
            if time.monotonic() > until:
                raise failed
            time.sleep(0.05)

    # Sessions.

    def start(self, line=None, argv=None, name=None, cwd=None, env=None, labels=None, cols=None, rows=None, **more):
        """Start a session: a shell, a line for one, or a program with its arguments."""
        return self.request("POST", "/sessions", _given(
            line=line, argv=argv, name=name, cwd=cwd or os.getcwd(), env=_env(env), labels=labels, cols=cols, rows=rows, **more))

    def sessions(self, *labels):
        return self.request("GET", "/sessions", query={"label": list(labels) or None})

    def session(self, session):
        return self.request("GET", _at(session))

    def kill(self, session, grace=None):
        """End the process and all its descendants."""
        return self.request("POST", _at(session, "kill"), _given(grace_ms=_ms(grace)))

    def remove(self, session, force=False):
        """Forget a session and its history."""
        self.request("DELETE", _at(session), query={"force": force})

    # Lines and commands.

    def exec(self, session, line, timeout=None, background=False, yield_after=None, job=None, **more):
        """Run a line in a session's shell. The answer has exit_code, output and state; with background, or when
        yield_after passed, it goes on as the job that the answer names. The same job is never run twice."""
        return self.request("POST", _at(session, "exec"), again=True, body=_given(
            line=line, timeout_ms=_ms(timeout), background=background or None, yield_ms=_ms(yield_after), job=job or str(uuid.uuid4()), **more))

    def run(self, line=None, argv=None, cwd=None, env=None, timeout=None, background=False, yield_after=None, job=None, **more):
        """Run a command in a session of its own."""
        return self.request("POST", "/run", again=True, body=_given(
            line=line, argv=argv, cwd=cwd or os.getcwd(), env=_env(env), timeout_ms=_ms(timeout), background=background or None,
            yield_ms=_ms(yield_after), job=job or str(uuid.uuid4()), **more))

    def jobs(self, session=None, running=False, limit=None):
        return self.request("GET", "/jobs", query={"session": session, "running": running or None, "limit": limit})

    def job(self, job, wait=None, max_output=None):
        """A job; with wait, once it ended or so many seconds passed."""
        return self.request("GET", "/jobs/" + quote(job, safe=""), query={"await_ms": _ms(wait), "max_output": max_output})

    def stop(self, job, grace=None):
        return self.request("POST", "/jobs/" + quote(job, safe="") + "/stop", _given(grace_ms=_ms(grace)))

    # Input, waiting, output.

    def send(self, session, text=None, enter=False, keys=None, paste=None, secret=False, id=None):
        """Type text as it is, press keys (Enter, C-c, Up …), or paste."""
        return self.request("POST", _at(session, "input"), again=True, body=_given(
            text=text, enter=enter or None, keys=keys, paste=paste, secret=secret or None, id=id or str(uuid.uuid4())))

    def wait(self, session, *conditions, timeout=60, **condition):
        """Wait for the first of some conditions: wait("s", text="ready"), wait("s", kind="exit"), or dicts as the API
        takes them. The answer's fired is empty when the time ran out."""
        if condition:
            kind = condition.pop("kind", None) or ("text" if "text" in condition else "regexp")
            conditions += ({"kind": kind, **condition},)
        return self.request("POST", _at(session, "wait"), {"conditions": list(conditions), "timeout_ms": _ms(timeout)}, again=True)

    def screen(self, session, format="text"):
        """What the terminal shows: as text, ansi, html, svg …, or as a dict of spans with format None."""
        if format is None:
            return self.request("GET", _at(session, "screen"))
        shown = self.request("GET", _at(session, "screen/" + format))
        return shown.decode() if format in ("text", "ansi", "html", "svg", "markdown") else shown

    def output(self, session, start=0, max_output=None):
        """Output as text from an offset on, within a budget of bytes: a dict with text, next and omitted."""
        return self.request("GET", _at(session, "output/text"), query={"from": start, "max_output": max_output})

    # What happens.

    def events(self, after=None, output=False):
        """What happens, one dict after the other, for ever. Where the connection ends it goes on with the next event;
        an event of kind "lost" says that some could not be told: look at what matters anew."""
        until = time.monotonic() + self._patience
        while True:
            conn = self._connect(None)
            try:
                query = urlencode({k: _word(v) for k, v in {"after": after, "output": output or None}.items() if v is not None})
                conn.request("GET", "/v1/events?" + query, None, self._headers)
                response = conn.getresponse()
                if response.status >= 400:
                    raise Error(response.status, _error(response.read()))
                for raw in response:
                    if raw.startswith(b"data: "):
                        event = json.loads(raw[6:])
                        until = time.monotonic() + self._patience
                        if event.get("seq"):
                            after = event["seq"]
                        yield event
            except (OSError, http.client.HTTPException):
                if time.monotonic() > until:
                    raise
            finally:
                conn.close()
            time.sleep(0.05)

    # What ended, also while nobody listened (docs/completions.md).

    def subscribe(self, name, kinds=None, session=None):
        """A subscription from now on, or the one there is: kinds are job, command, session, input and approval."""
        return self.request("PUT", _subscription(name), _given(kinds=kinds, session=session), again=True)

    def subscriptions(self):
        return self.request("GET", "/subscriptions")

    def unsubscribe(self, name):
        self.request("DELETE", _subscription(name))

    def completions(self, name, wait=None, ack=None, after=None, limit=None, reader=None, take=None):
        """What a subscription has not acknowledged, oldest first; wait is how long for the first, 50 at most. The answer's
        cursor is acknowledged when these were dealt with, by acknowledge or with the next request; until then they come
        again."""
        return self.request("POST", _subscription(name, "read"), again=True, body=_given(
            wait_ms=_ms(wait), ack=ack, after=after, limit=limit, reader=reader, take=take))

    def acknowledge(self, name, cursor, reader=None):
        """Completions up to here were dealt with: they never come again."""
        self.request("POST", _subscription(name, "ack"), again=True, body=_given(cursor=cursor, reader=reader))

    def each(self, name, wait=None):
        """Each completion of a subscription, for ever, or until none came for so many seconds. One is acknowledged when the
        next is asked for: a program that dies in between is given it again. Whoever reads last has the subscription; the
        one before is refused (stale)."""
        reader, take, until = str(uuid.uuid4()), True, None if wait is None else time.monotonic() + wait
        while True:
            left = 45 if until is None else min(45, max(0, until - time.monotonic()))
            got = self.completions(name, wait=left, reader=reader, take=take)
            take = None
            for completion in got["completions"]:
                yield completion
                self.acknowledge(name, completion["seq"], reader=reader)
            if got["completions"]:
                until = None if wait is None else time.monotonic() + wait
            elif until is not None and time.monotonic() >= until:
                return

    def approvals(self, session=None, all=False):
        return self.request("GET", "/approvals", query={"session": session, "all": all or None})

    def answer(self, approval, answer, feedback=None):
        """Answer an approval: once, session, always or reject."""
        return self.request("POST", "/approvals/" + quote(approval, safe="") + "/answer", _given(answer=answer, feedback=feedback))


def _at(session, below=""):
    return "/sessions/" + quote(session, safe="") + ("/" + below if below else "")


def _subscription(name, below=""):
    return "/subscriptions/" + quote(name, safe="") + ("/" + below if below else "")


def _ms(seconds):
    return None if seconds is None else int(seconds * 1000)


def _word(value):
    return str(value).lower() if isinstance(value, bool) else value


def _env(env):
    return [name + "=" + value for name, value in (env or os.environ).items()]


def _given(**fields):
    return {name: value for name, value in fields.items() if value is not None}


def _error(data):
    try:
        body = json.loads(data)
        return body if isinstance(body, dict) else {}
    except ValueError:
        return {"message": data[:200].decode(errors="replace")}
