-- Output offset at which the session's newest program started: output before it is that of programs before a restore.
ALTER TABLE sessions ADD COLUMN program_from INTEGER NOT NULL DEFAULT 0;
