-- A session that an agent's call made for one line is told of by the line's job, as a temporary one is.
DROP TRIGGER IF EXISTS session_done;
CREATE TRIGGER session_done AFTER UPDATE OF state ON sessions
WHEN NEW.state <> 'running' AND OLD.state = 'running' AND NEW.temporary = 0 AND EXISTS (SELECT 1 FROM subscriptions)
    AND coalesce(CASE WHEN json_valid(NEW.labels) THEN json_extract(NEW.labels, '$."longterm.mcp"') END, '') <> 'exec'
BEGIN
    INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns) VALUES (
        'session', NEW.id, NEW.name, NEW.started_ns, NEW.state, NEW.exit_code, NEW.signal, '', NEW.ended_ns);
END;
