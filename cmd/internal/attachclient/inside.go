//go:build unix

package attachclient

import (
	"context"
	"os"
	"slices"
	"time"
)

// Bounds of looking for what shows a session.
const (
	insideTime = time.Second
	maxInside  = 16
)

// inside are the session that this terminal is in, if any, and those that show it as far as this host knows. The daemon
// of another host cannot ask here: it is told, so that it refuses what would show itself.
func (at *attachment) inside(ctx context.Context) []string {
	own := os.Getenv("LONGTERM_SESSION")
	if own == "" {
		return nil
	}
	all := []string{own}
	if at.Here == nil {
		return all
	}
	ctx, done := context.WithTimeout(ctx, insideTime)
	defer done()
	for i := 0; i < len(all) && len(all) < maxInside; i++ {
		clients, err := at.Here.Session(all[i]).Clients(ctx)
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
