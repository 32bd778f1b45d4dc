//go:build unix

package attachclient

import (
	"context"
	"os"
	"slices"
	"time"
)

// Limits of the search for sessions that show this terminal.
const (
	nestedTimeout = time.Second
	maxNested     = 16
)

// enclosingSessions returns the session that this terminal runs in, and the sessions that show it, as far as this
// host knows. A remote daemon cannot query this host, so it gets the list and rejects a session that would show itself.
func (at *attachment) enclosingSessions(ctx context.Context) []string {
	own := os.Getenv("LONGTERM_SESSION")
	if own == "" {
		return nil
	}
	all := []string{own}
	if at.Local == nil {
		return all
	}
	ctx, done := context.WithTimeout(ctx, nestedTimeout)
	defer done()
	for i := 0; i < len(all) && len(all) < maxNested; i++ {
		clients, err := at.Local.Session(all[i]).Clients(ctx)
		if err != nil { // it is another host's
			continue
		}
		for _, c := range clients {
			for _, id := range c.Inside {
				if !slices.Contains(all, id) {
					all = append(all, id)
				}
			}
		}
	}
	return all
}
