CREATE TABLE commands (
    session     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    n           INTEGER NOT NULL,           -- 1 is the session's first
    text        TEXT NOT NULL,
    source      TEXT NOT NULL,              -- who ran it: person, exec, mcp, ...
    state       TEXT NOT NULL,              -- running, done, lost
    quality     TEXT NOT NULL,              -- of what is known: rich, basic, none
    cwd         TEXT NOT NULL,              -- before
    cwd_after   TEXT NOT NULL,
    env         TEXT NOT NULL,              -- JSON object NAME: value, null: unset
    started_ns  INTEGER NOT NULL,
    ended_ns    INTEGER NOT NULL,
    exit_code   INTEGER,                    -- NULL: not ended, unknown, or ended by a signal
    signal      TEXT NOT NULL,
    from_offset INTEGER NOT NULL,           -- output in the journal: [from, to)
    to_offset   INTEGER NOT NULL,           -- 0: running
    alt_screen  INTEGER NOT NULL,           -- bool: used the alternate screen
    truncated   INTEGER NOT NULL,           -- bool: not all its output is in the journal
    binary      INTEGER NOT NULL,           -- bool: printed what is no text
    PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX commands_by_start ON commands (started_ns);
CREATE INDEX commands_running ON commands (state) WHERE state = 'running';
