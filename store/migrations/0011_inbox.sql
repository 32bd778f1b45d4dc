-- What needs the user's attention. Most entries follow from other records; these have a row once they were listed, which
-- gives them a number, or marked. Messages of programs are kept here only.
CREATE TABLE inbox (
    n           INTEGER PRIMARY KEY AUTOINCREMENT, -- I7 is 7
    key         TEXT NOT NULL UNIQUE,         -- kind and record
    session     TEXT REFERENCES sessions (id) ON DELETE CASCADE, -- NULL: the entry outlives its session, or has none
    text        TEXT NOT NULL,                -- of a message; else empty
    count       INTEGER NOT NULL,             -- of bells
    at_ns       INTEGER NOT NULL,
    done_ns     INTEGER NOT NULL,             -- 0: not done
    until_ns    INTEGER NOT NULL              -- end of the snooze; 0: none
) STRICT;

CREATE INDEX inbox_by_session ON inbox (session);

-- When a user's client last showed a session.
CREATE TABLE inbox_seen (
    session     TEXT PRIMARY KEY NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seen_ns     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX commands_by_end ON commands (ended_ns);
