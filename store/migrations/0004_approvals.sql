-- What persons were asked to allow. A row is written before anybody is asked.
CREATE TABLE approvals (
    n           INTEGER PRIMARY KEY NOT NULL, -- A7 is 7
    state       TEXT NOT NULL,                -- pending, answered, gone
    kind        TEXT NOT NULL,                -- line, command, execution, network, reveal, write
    session     TEXT NOT NULL,                -- its id; empty: none yet
    body        TEXT NOT NULL,                -- JSON, the caller's
    asked_ns    INTEGER NOT NULL,
    ended_ns    INTEGER NOT NULL              -- 0: pending
) STRICT;

CREATE INDEX approvals_pending ON approvals (state) WHERE state = 'pending';

-- Who waits, or waited, for which approval: identical askings have one.
CREATE TABLE askings (
    id          TEXT PRIMARY KEY NOT NULL,    -- a job's, an execution's
    approval    INTEGER NOT NULL
) STRICT;

CREATE INDEX askings_by_approval ON askings (approval);

-- What was allowed for a session.
CREATE TABLE grants (
    n           INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    rule        TEXT NOT NULL,                -- that asked
    prefix      TEXT NOT NULL,                -- words of the command, JSON
    exact       TEXT NOT NULL,                -- or all of what was asked; empty: the prefix counts
    approval    INTEGER NOT NULL,
    created_ns  INTEGER NOT NULL
) STRICT;

-- Rules that were asked for when a session was started, and the label of the agent that did.
ALTER TABLE sessions ADD COLUMN policy TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
