CREATE TABLE sessions (
    id          TEXT PRIMARY KEY NOT NULL,
    name        TEXT NOT NULL UNIQUE,
    argv        TEXT NOT NULL,              -- JSON array
    shell       INTEGER NOT NULL,           -- bool: the user's shell, not a command
    cwd         TEXT NOT NULL,
    env         TEXT NOT NULL,              -- JSON array of NAME=value added to the environment
    labels      TEXT NOT NULL,              -- JSON object
    cols        INTEGER NOT NULL,
    rows        INTEGER NOT NULL,
    engine      TEXT NOT NULL,
    keeper      TEXT NOT NULL,              -- placement key
    pipe        INTEGER NOT NULL,           -- bool
    temporary   INTEGER NOT NULL,           -- bool: removed when it ends
    restore     TEXT NOT NULL,              -- policy after a reboot; empty: the default
    pid         INTEGER NOT NULL,
    state       TEXT NOT NULL,              -- running, exited, lost
    exit_code   INTEGER,                    -- NULL: not exited, or ended by a signal
    signal      TEXT NOT NULL,
    title       TEXT NOT NULL,
    created_ns  INTEGER NOT NULL,
    started_ns  INTEGER NOT NULL,
    ended_ns    INTEGER NOT NULL,
    user_ns     INTEGER NOT NULL,           -- CPU time
    system_ns   INTEGER NOT NULL,
    max_rss     INTEGER NOT NULL            -- bytes
) STRICT;
