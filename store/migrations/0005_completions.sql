-- Who is told of completions, also of those while it was away. Nothing is kept while there is nobody.
CREATE TABLE subscriptions (
    name        TEXT PRIMARY KEY NOT NULL,
    uid         TEXT NOT NULL UNIQUE,         -- of this one, not of one of the same name before
    kinds       TEXT NOT NULL,                -- JSON array; empty: all
    session     TEXT NOT NULL,                -- its id; empty: all
    hook        TEXT NOT NULL,                -- line of a shell that is run for each; empty: none
    cursor      INTEGER NOT NULL,             -- seq of the newest completion that was acknowledged
    failed      INTEGER NOT NULL,             -- runs of the hook that failed
    created_ns  INTEGER NOT NULL,
    seen_ns     INTEGER NOT NULL              -- when it was last read or acknowledged
) STRICT;

-- What ended or wants a person, in order. The record that says so is changed in the same transaction: a completion is
-- there exactly when its record is, and once.
CREATE TABLE completions (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,                -- job, command, session, input, approval
    session     TEXT NOT NULL,                -- its id; empty: none
    name        TEXT NOT NULL,                -- of the session, then
    ref         TEXT NOT NULL,                -- which: id of a job, number of a command, …
    state       TEXT NOT NULL,                -- how it ended; kind of input; what is to be allowed
    exit_code   INTEGER,                      -- NULL: none, or not known
    signal      TEXT NOT NULL,
    text        TEXT NOT NULL,                -- line, command or question; its beginning
    at_ns       INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX completions_once ON completions (kind, session, ref);

CREATE TRIGGER completions_kept AFTER INSERT ON completions BEGIN
    DELETE FROM completions WHERE seq <= NEW.seq - 20000;
END;

-- Jobs of hooks are no news: each would be the cause of another.
CREATE TRIGGER job_done AFTER UPDATE OF state ON jobs
WHEN NEW.state = 'done' AND OLD.state <> 'done' AND EXISTS (SELECT 1 FROM subscriptions)
    AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE NEW.id GLOB 'hook-' || uid || '-*')
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'job', NEW.session, coalesce((SELECT name FROM sessions WHERE id = NEW.session), ''), NEW.id,
        coalesce(CASE WHEN json_valid(NEW.result) THEN json_extract(NEW.result, '$.state') END, 'lost'),
        CASE WHEN json_valid(NEW.result) THEN json_extract(NEW.result, '$.exit_code') END,
        coalesce(CASE WHEN json_valid(NEW.result) THEN json_extract(NEW.result, '$.signal') END, ''),
        substr(NEW.line, 1, 1000), NEW.ended_ns);
END;

CREATE TRIGGER command_done AFTER UPDATE OF state ON commands
WHEN NEW.state <> 'running' AND OLD.state = 'running' AND EXISTS (SELECT 1 FROM subscriptions)
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'command', NEW.session, coalesce((SELECT name FROM sessions WHERE id = NEW.session), ''), NEW.n,
        NEW.state, NEW.exit_code, NEW.signal, substr(NEW.text, 1, 1000), NEW.ended_ns);
END;

CREATE TRIGGER command_was_done AFTER INSERT ON commands
WHEN NEW.state <> 'running' AND EXISTS (SELECT 1 FROM subscriptions)
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'command', NEW.session, coalesce((SELECT name FROM sessions WHERE id = NEW.session), ''), NEW.n,
        NEW.state, NEW.exit_code, NEW.signal, substr(NEW.text, 1, 1000), NEW.ended_ns);
END;

CREATE TRIGGER session_done AFTER UPDATE OF state ON sessions
WHEN NEW.state <> 'running' AND OLD.state = 'running' AND NEW.temporary = 0 AND EXISTS (SELECT 1 FROM subscriptions)
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'session', NEW.id, NEW.name, NEW.started_ns, NEW.state, NEW.exit_code, NEW.signal, '', NEW.ended_ns);
END;

CREATE TRIGGER approval_asked AFTER INSERT ON approvals
WHEN NEW.state = 'pending' AND EXISTS (SELECT 1 FROM subscriptions)
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'approval', NEW.session, coalesce((SELECT name FROM sessions WHERE id = NEW.session), ''), 'A' || NEW.n,
        NEW.kind, NULL, '',
        coalesce(CASE WHEN json_valid(NEW.body) THEN substr(coalesce(json_extract(NEW.body, '$.view.line'), json_extract(NEW.body, '$.view.path')), 1, 1000) END, ''),
        NEW.asked_ns);
END;
