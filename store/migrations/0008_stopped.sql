-- Whether a session was ended by request. Its status says nothing of that: a program may answer SIGTERM with any.
ALTER TABLE sessions ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;
