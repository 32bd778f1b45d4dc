//go:build unix

package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/client"
)

// maxScreens bounds the versions that are remembered; a client whose version is forgotten gets the whole screen.
const maxScreens = 2000

// screens holds the version of each session's screen that a client was last given.
type screens struct {
	mu    sync.Mutex
	given map[string]uint64
}

// last returns the version that a client was last given, or 0.
func (s *screens) last(who, session string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given[who+"\x00"+session]
}

func (s *screens) note(who, session string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil || len(s.given) >= maxScreens {
		s.given = map[string]uint64{}
	}
	s.given[who+"\x00"+session] = version
}

// showRedrawn replaces the output with which a full-screen program redraws parts of its screen after input, as it cannot be read as
// text. The client gets the whole screen first, and later the rows that changed.
func (s *Server) showRedrawn(ctx context.Context, a *answer, budget int) {
	if a.State != "running" || a.Needs != "screen" && !a.alt || budget == noOutput {
		return
	}
	c := s.client(ctx).Session(a.Session)
	who, since := principal(ctx), s.screens.last(principal(ctx), a.id)
	screen, err := c.Screen(ctx, client.ScreenQuery{Trim: true, NoColor: true, Since: since})
	if err == nil && (!screen.Delta || screen.Version < since || 2*len(screen.Lines) > screen.Rows) { // then all of it reads better
		since = 0
		screen, err = c.Screen(ctx, client.ScreenQuery{Trim: true, NoColor: true})
	}
	if err != nil {
		return // the output is all there is
	}
	v := shownOf(&screen)
	if since > 0 {
		var rows []string
		for _, l := range screen.Lines {
			rows = append(rows, fmt.Sprintf("%d: %s", l.Row, strings.TrimRight(l.Text, " ")))
		}
		v.Text = strings.Join(rows, "\n")
	}
	a.clearOmitted()
	a.Output = ""
	if len(v.Text) > budget {
		return // the next call shows it
	}
	a.show(&v)
	a.ScreenSince = since
	s.screens.note(who, a.id, screen.Version)
}
