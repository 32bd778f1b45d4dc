CREATE TABLE sessions (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,        -- the caller's id of the session
    indexed INTEGER NOT NULL,            -- offset up to which its output was fed
    floor   INTEGER NOT NULL             -- lines that begin before are forgotten
) STRICT;

-- The end of each session's text, until it is enough for a block.
CREATE TABLE tails (
    session  INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    touched  INTEGER NOT NULL,           -- grows with each Add: the smallest waited longest
    size     INTEGER NOT NULL,           -- bytes of text
    last     INTEGER NOT NULL,           -- offset at which the last line begins
    first_ns INTEGER NOT NULL,
    last_ns  INTEGER NOT NULL,
    low_cmd  INTEGER NOT NULL,
    high_cmd INTEGER NOT NULL,
    data     BLOB NOT NULL               -- lines, not compressed
) STRICT;
CREATE INDEX tails_by_touch ON tails (touched, session, size);

-- What is known of a block; its lines are in texts. Apart, so that many are read fast.
CREATE TABLE blocks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    session  INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    size     INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns  INTEGER NOT NULL,
    low_cmd  INTEGER NOT NULL,
    high_cmd INTEGER NOT NULL
) STRICT;
CREATE INDEX blocks_by_session ON blocks (session, id);

CREATE TABLE texts (
    block INTEGER PRIMARY KEY,
    data  BLOB NOT NULL                  -- lines, zstd
) STRICT;

-- Blocks [base, last] have their trigrams in pages; blocks after the last group not yet.
CREATE TABLE groups (
    base     INTEGER PRIMARY KEY,
    last     INTEGER NOT NULL,
    first_ns INTEGER NOT NULL,
    last_ns  INTEGER NOT NULL
) STRICT;

CREATE TABLE pages (
    id   INTEGER PRIMARY KEY,            -- base of the group << 24 | first trigram
    data BLOB NOT NULL
) STRICT;
