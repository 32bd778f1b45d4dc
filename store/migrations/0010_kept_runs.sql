-- The session of a command that ended is kept for its output only: the completion of the command's job stands for both.
DROP TRIGGER IF EXISTS session_done;
CREATE TRIGGER session_done AFTER UPDATE OF state ON sessions
WHEN NEW.state <> 'running' AND OLD.state = 'running' AND NEW.temporary = 0 AND EXISTS (SELECT 1 FROM subscriptions)
    AND coalesce(CASE WHEN json_valid(NEW.labels) THEN json_extract(NEW.labels, '$."longterm.mcp"') END, '') <> 'exec'
    AND coalesce(CASE WHEN json_valid(NEW.labels) THEN json_extract(NEW.labels, '$."longterm.kept"') END, '') <> 'run'
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'session', NEW.id, NEW.name, NEW.started_ns, NEW.state, NEW.exit_code, NEW.signal, '', NEW.ended_ns);
END;
