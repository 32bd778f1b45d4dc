"""A client of longterm in one file: Python 3.9 or newer, standard library only. Copy it into your project.

    from longterm import Longterm

    lt = Longterm()                          # the daemon's socket; or Longterm(url="http://127.0.0.1:7718", token="lt_…")
    shell = lt.start(name="build", cwd="/src")
    done = lt.exec("build", "make test", timeout=600)
    print(done["exit_code"], done["output"])

Methods return the JSON of the HTTP API (docs/openapi.json) as dicts and raise Error, with a code of docs/errors.md. Times are
seconds. The daemon must run: `longterm daemon start`.
"""

import http.client
import json
import os
import re
import socket
import time
import uuid
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Longterm", "Error", "keys", "secret"]


class Error(Exception):
    """An error of the daemon: its code, its message, and a hint what to do."""

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


def secret(reference):
    """A reply that types a secret and Enter: env:NAME, file:PATH or another reference of docs/secrets.md. It is typed only while the
    terminal does not echo. env:NAME and relative paths are those of this process."""
    kind, _, value = reference.partition(":")
    if kind == "file" and not value.startswith("~/"):
        reference = "file:" + os.path.abspath(value)
    return [{"kind": "secret", "value": reference}, {"kind": "keys", "value": "<Enter>"}]


def keys(names):
    """A reply that presses keys, as in "<C-c>" or "y<Enter>"."""
    return [{"kind": "keys", "value": names}]


def socket_path():
    """Return the path of the daemon's socket."""
    if os.environ.get("LONGTERM_DIR"):
        return os.path.join(os.path.abspath(os.environ["LONGTERM_DIR"]), "run", "daemon.sock")
    if os.path.isabs(os.environ.get("XDG_RUNTIME_DIR", "")):
        return os.path.join(os.environ["XDG_RUNTIME_DIR"], "longterm", "daemon.sock")
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "longterm", "run", "daemon.sock")


class Longterm:
    """A client of the daemon. Each call opens a connection, so any thread may use it."""

    def __init__(self, path=None, url=None, token=None, agent=None, patience=30):
        """path is the daemon's socket; url and token are for a daemon that serves TCP (http.listen). agent labels an agent's
        requests. Safe requests are retried for patience seconds while the daemon is being replaced."""
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
        """Send any request of the API; path is below /v1. again allows retries (default: for GET)."""
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
        """Start a session: a shell, a shell that runs a line, or a program with its arguments."""
        return self.request("POST", "/sessions", _given(
            line=line, argv=argv, name=name, cwd=cwd or os.getcwd(), env=_env(env), labels=labels, cols=cols, rows=rows, **more))

    def sessions(self, *labels):
        return self.request("GET", "/sessions", query={"label": list(labels) or None})

    def session(self, session):
        return self.request("GET", _at(session))

    def kill(self, session, grace=None):
        """End a session's process and all its descendants."""
        return self.request("POST", _at(session, "kill"), _given(grace_ms=_ms(grace)))

    def remove(self, session, force=False):
        """Remove a session and its history."""
        self.request("DELETE", _at(session), query={"force": force})

    # Lines and commands.

    def exec(self, session, line, timeout=None, background=False, yield_after=None, job=None, respond=None, **more):
        """Run a line in a session's shell. The result has exit_code, output and state. With background, or after yield_after
        seconds, the line continues as the job that the result names. A job id is never run twice.

        respond answers prompts until the line ends: a dict of patterns and replies. A pattern is a text or re.compile(…) (RE2, within
        one line). A reply is a text, which is typed with Enter, or keys("<C-c>"), secret("env:PASSWORD")."""
        return self.request("POST", _at(session, "exec"), again=True, body=_given(
            line=line, timeout_ms=_ms(timeout), background=background or None, yield_ms=_ms(yield_after), job=job or str(uuid.uuid4()),
            respond=_rules(respond), **more))

    def run(self, line=None, argv=None, cwd=None, env=None, timeout=None, background=False, yield_after=None, job=None, respond=None, **more):
        """Run a command in a new session, with the results and options of exec."""
        rules = _rules(respond)
        result = self.request("POST", "/run", again=True, body=_given(
            line=line, argv=argv, cwd=cwd or os.getcwd(), env=_env(env), timeout_ms=_ms(timeout), background=background or None,
            yield_ms=_ms(yield_after), job=job or str(uuid.uuid4()), start=bool(rules) or None, **more))
        if not rules:
            return result
        try:
            self.request("POST", _at(result["session"], "respond"), rules)
        except Error as err:
            if err.code != "ended":  # it ended without a prompt
                self.stop(result["job"])
                raise
        until = None if yield_after is None else time.monotonic() + yield_after
        while not background:
            left = 3600 if until is None else max(0, until - time.monotonic())
            job = self.job(result["job"], wait=left, max_output=more.get("max_output", 1 << 24))
            result = job["result"]
            if job["state"] == "done" or until is not None and time.monotonic() >= until:
                break
        return result

    def jobs(self, session=None, running=False, limit=None):
        return self.request("GET", "/jobs", query={"session": session, "running": running or None, "limit": limit})

    def job(self, job, wait=None, max_output=None):
        """Return a job. With wait, first wait for its end, for that many seconds at most."""
        return self.request("GET", "/jobs/" + quote(job, safe=""), query={"await_ms": _ms(wait), "max_output": max_output})

    def stop(self, job, grace=None):
        return self.request("POST", "/jobs/" + quote(job, safe="") + "/stop", _given(grace_ms=_ms(grace)))

    # Input, waiting, output.

    def send(self, session, text=None, enter=False, keys=None, paste=None, secret=False, id=None):
        """Type text unchanged, press keys (Enter, C-c, Up …), or paste."""
        return self.request("POST", _at(session, "input"), again=True, body=_given(
            text=text, enter=enter or None, keys=keys, paste=paste, secret=secret or None, id=id or str(uuid.uuid4())))

    def wait(self, session, *conditions, timeout=60, **condition):
        """Wait for the first of some conditions: wait("s", text="ready"), wait("s", kind="exit"), or dicts of the API. After a
        timeout, fired in the result is empty."""
        if condition:
            kind = condition.pop("kind", None) or ("text" if "text" in condition else "regexp")
            conditions += ({"kind": kind, **condition},)
        return self.request("POST", _at(session, "wait"), {"conditions": list(conditions), "timeout_ms": _ms(timeout)}, again=True)

    def screen(self, session, format="text"):
        """Return the terminal's screen as text, ansi, html, svg …, or with format None as a dict of spans."""
        if format is None:
            return self.request("GET", _at(session, "screen"))
        shown = self.request("GET", _at(session, "screen/" + format))
        return shown.decode() if format in ("text", "ansi", "html", "svg", "markdown") else shown

    def output(self, session, start=0, max_output=None):
        """Return output from an offset as text, of max_output bytes at most: a dict with text, next and omitted."""
        return self.request("GET", _at(session, "output/text"), query={"from": start, "max_output": max_output})

    # Events.

    def events(self, after=None, output=False):
        """Yield events as dicts, without end. After a lost connection it continues with the next event. After an event of kind
        "lost", events are missing: read the state again."""
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

    # Completions: ends of jobs, lines and sessions, kept until they are acknowledged (docs/completions.md).

    def subscribe(self, name, kinds=None, session=None):
        """Make a subscription that starts now, or return the existing one. kinds are job, command, session, input and approval."""
        return self.request("PUT", _subscription(name), _given(kinds=kinds, session=session), again=True)

    def subscriptions(self):
        return self.request("GET", "/subscriptions")

    def unsubscribe(self, name):
        self.request("DELETE", _subscription(name))

    def completions(self, name, wait=None, ack=None, after=None, limit=None, reader=None, take=None):
        """Return completions that are not acknowledged, oldest first. wait is the time for the first one, 50 seconds at most. Acknowledge
        the result's cursor by acknowledge, or by ack of the next call, once they are processed; else they are returned again."""
        return self.request("POST", _subscription(name, "read"), again=True, body=_given(
            wait_ms=_ms(wait), ack=ack, after=after, limit=limit, reader=reader, take=take))

    def acknowledge(self, name, cursor, reader=None):
        """Acknowledge completions up to a cursor: they are not returned again."""
        self.request("POST", _subscription(name, "ack"), again=True, body=_given(cursor=cursor, reader=reader))

    def each(self, name, wait=None):
        """Yield completions of a subscription, without end, or until there is none for wait seconds. A completion is acknowledged
        when the next one is requested, so a program that dies in between gets it again. The newest reader has the
        subscription; an earlier one gets an error (stale)."""
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


def _rules(respond):
    """Rules of the API for a dict of patterns and replies; other values are rules already."""
    if not isinstance(respond, dict) or "rules" in respond:
        return respond
    rules, secrets = [], {}
    for pattern, reply in respond.items():
        if isinstance(reply, str):
            reply = ([{"kind": "text", "value": reply}] if reply else []) + keys("<Enter>")
        for part in reply:
            if part["kind"] == "secret" and part["value"].startswith("env:"):
                secrets[part["value"]] = os.environ[part["value"][len("env:"):]]
        where = {"regexp": pattern.pattern} if isinstance(pattern, re.Pattern) else {"text": pattern}
        rules.append({**where, "reply": reply})
    return {"rules": rules, **({"secrets": secrets} if secrets else {})}


def _given(**fields):
    return {name: value for name, value in fields.items() if value is not None}


def _error(data):
    try:
        body = json.loads(data)
        return body if isinstance(body, dict) else {}
    except ValueError:
        return {"message": data[:200].decode(errors="replace")}
