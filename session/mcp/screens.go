//go:build unix

package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/client"
)

// maxScreens bounds the remembered versions. A client whose version was dropped gets the whole screen.
const maxScreens = 2000

// screenVersions holds the version of each session's screen that a client got last.
type screenVersions struct {
	mu       sync.Mutex
	versions map[string]uint64 // by client and session
}

// last returns the version that a client got last, or 0.
func (s *screenVersions) last(who, session string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versions[who+"\x00"+session]
}

// note records the version that a client got.
func (s *screenVersions) note(who, session string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.versions == nil || len(s.versions) >= maxScreens {
		s.versions = map[string]uint64{}
	}
	s.versions[who+"\x00"+session] = version
}

// showRedrawn replaces the output with which a full-screen program redraws parts of its screen after input, as it cannot
// be read as text. The client gets the whole screen first, and later the changed rows.
func (s *Server) showRedrawn(ctx context.Context, a *answer, budget int) {
	if a.State != "running" || a.Needs != "screen" && !a.fullScreen || budget == noOutput {
		return
	}
	c := s.client(ctx).Session(a.Session)
	who, since := principal(ctx), s.screens.last(principal(ctx), a.id)
	screen, err := c.Screen(ctx, client.ScreenQuery{Trim: true, NoColor: true, Since: since})
	if err == nil && (!screen.Delta || screen.Version < since || 2*len(screen.Lines) > screen.Rows) { // the whole screen is easier to read
		since = 0
		screen, err = c.Screen(ctx, client.ScreenQuery{Trim: true, NoColor: true})
	}
	if err != nil {
		return // the output is complete
	}
	v := screenAnswerOf(&screen)
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
		return // the next call returns it
	}
	a.addScreen(&v)
	a.ScreenSince = since
	s.screens.note(who, a.id, screen.Version)
}
