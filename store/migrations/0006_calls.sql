-- The call that started a session, by the id that its caller made: asked for again, it is that session.
ALTER TABLE sessions ADD COLUMN call_id TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN asked TEXT NOT NULL DEFAULT ''; -- digest of what was asked for
