//go:build unix

package projectrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Ended is a session that down ended or removed.
type Ended struct {
	Session     string `json:"session"`
	SessionName string `json:"session_name"` // the session's name
	Removed     bool   `json:"removed,omitempty"`
	// it had ended before
	HadEnded bool `json:"ended_before,omitempty" doc:"it ended before the call and its restart is canceled"`
}

// Down ends the sessions of the project at root, youngest first, even if its file no longer lists them. only selects
// sessions by their names in the file or their own; empty selects all.
func Down(ctx context.Context, c *client.Client, root string, only []string, remove bool) ([]Ended, error) {
	list, err := c.List(ctx, labelRoot+"="+root)
	if err == nil && remove { // which were replaced and had ended before
		var aside []api.Session
		aside, err = c.List(ctx, labelAside+"="+root)
		list = append(list, aside...)
	}
	if err != nil {
		return nil, err
	}
	if len(only) > 0 {
		if list, err = filterByName(list, only); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b api.Session) int { return b.Created.Compare(a.Created) })
	done := []Ended{}
	for i := range list {
		s := &list[i]
		runs := s.State == "running"
		if runs || s.Labels[labelRestart] != "" { // a restart may be pending
			if _, err := c.Session(s.ID).Kill(ctx, api.Kill{}); err != nil {
				return done, fmt.Errorf("end %s: %w", s.Name, err)
			}
		}
		if remove {
			if err := c.Session(s.ID).Remove(ctx, true); err != nil {
				return done, fmt.Errorf("remove %s: %w", s.Name, err)
			}
		}
		if back := s.RestartAt != nil; runs || remove || back {
			done = append(done, Ended{s.ID, s.Name, remove, back})
		}
	}
	return done, nil
}

// filterByName returns the sessions of a list that have one of these names. It fails if a name matches none.
func filterByName(list []api.Session, names []string) (found []api.Session, err error) {
	is := func(s *api.Session, name string) bool { return s.Labels[labelName] == name || s.Name == name }
	for _, name := range names {
		if !slices.ContainsFunc(list, func(s api.Session) bool { return is(&s, name) }) {
			return nil, api.Errorf(api.CodeInvalid, "session %q was not started by this project", name).WithHint("`longterm status` lists the project's sessions")
		}
	}
	for i := range list {
		if slices.ContainsFunc(names, func(name string) bool { return is(&list[i], name) }) {
			found = append(found, list[i])
		}
	}
	return found, nil
}
