CREATE TABLE jobs (
    id          TEXT PRIMARY KEY NOT NULL,
    session     TEXT NOT NULL,              -- its id; the job's row outlives the session
    kind        TEXT NOT NULL,              -- line: for the session's shell; command: the session's own
    line        TEXT NOT NULL,              -- as people read it
    state       TEXT NOT NULL,              -- waiting, running, done
    n           INTEGER NOT NULL,           -- number of the command in its session; 0: not known, or none
    request     TEXT NOT NULL,              -- JSON, as it was asked for
    result      TEXT NOT NULL,              -- JSON; empty: not ended
    created_ns  INTEGER NOT NULL,
    ended_ns    INTEGER NOT NULL            -- 0: not ended
) STRICT;

CREATE INDEX jobs_by_time ON jobs (created_ns);
CREATE INDEX jobs_running ON jobs (state) WHERE state <> 'done';
