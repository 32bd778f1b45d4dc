//go:build unix

package sourcepos

import (
	"context"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Limits of the search for errors.
const (
	lastCommands = 8
	maxText      = 4 << 20
)

// InSession returns the errors of a session that have a file and line, in their printed order: those of the newest
// command that printed some, or of the session's program. A command that succeeded later has none.
func InSession(ctx context.Context, c *client.Client, session, host string) ([]Place, error) {
	s := c.Session(session)
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	about := Place{Host: host, Session: info.ID}
	list, err := c.Commands(ctx, client.CommandQuery{Session: info.ID, Limit: lastCommands})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return ofProgram(ctx, s, &info, about)
	}
	again := map[string]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		cmd := &list[i]
		if again[cmd.Text] {
			continue
		}
		again[cmd.Text] = true
		if cmd.State == "done" && cmd.ExitCode != nil && *cmd.ExitCode == 0 {
			continue
		}
		r, err := s.ParsedOutput(ctx, cmd.N)
		if err != nil {
			return nil, err
		}
		about.Command = cmd.N
		if found := errorsOf(&r, cmd.Cwd, about); len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

// ofProgram returns the errors in the newest output of a session's program.
func ofProgram(ctx context.Context, s *client.Session, info *api.Session, about Place) ([]Place, error) {
	from := max(info.Output.Start, info.ProgramFrom)
	if end := info.Output.End; end > from+maxText {
		from = end - maxText
	}
	text, err := s.Text(ctx, client.TextQuery{From: from, MaxOutput: maxText})
	if err != nil {
		return nil, err
	}
	r := diagnostics.Parse(info.Command, info.ExitCode, text.Text)
	return errorsOf(&r, info.Cwd, about), nil
}

// InHit returns the place named in a search hit, or ok = false without one.
func InHit(ctx context.Context, c *client.Client, h *api.Hit, host string) (p Place, ok bool, err error) {
	if _, ok := InLine(h.Text, ""); !ok {
		return p, false, nil
	}
	s := c.Session(h.Session)
	dir := ""
	if h.Command > 0 {
		if cmd, err := s.Command(ctx, h.Command); err == nil {
			dir = cmd.Cwd
		}
	}
	if dir == "" {
		info, err := s.Info(ctx)
		if err != nil {
			return p, false, err
		}
		dir = info.Cwd
	}
	p, ok = InLine(h.Text, dir)
	p.Host, p.Session, p.Command = host, h.Session, h.Command
	return p, ok, nil
}
