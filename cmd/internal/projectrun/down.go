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
	Session string `json:"session"`
	Called  string `json:"session_name"`
	Removed bool   `json:"removed,omitempty"`
	Before  bool   `json:"ended_before,omitempty" doc:"it had ended by itself, and is not started again now"`
}

// Down ends the sessions of the project at root, the youngest first, whatever its file says by now: those of only, by
// their names in the file or their own, or all.
func Down(ctx context.Context, c *client.Client, root string, only []string, remove bool) ([]Ended, error) {
	list, err := c.List(ctx, labelRoot+"="+root)
	if err == nil && remove { // what was put aside has ended before
		var aside []api.Session
		aside, err = c.List(ctx, labelAside+"="+root)
		list = append(list, aside...)
	}
	if err != nil {
		return nil, err
	}
	if len(only) > 0 {
		if list, err = named(list, only); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b api.Session) int { return b.Created.Compare(a.Created) })
	done := []Ended{}
	for i := range list {
		s := &list[i]
		runs := s.State == "running"
		if runs || s.Labels[labelRestart] != "" { // which may be about to come back
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

// named are the sessions of a list that are called by these names.
func named(list []api.Session, names []string) (found []api.Session, err error) {
	is := func(s *api.Session, name string) bool { return s.Labels[labelName] == name || s.Name == name }
	for _, name := range names {
		if !slices.ContainsFunc(list, func(s api.Session) bool { return is(&s, name) }) {
			return nil, api.Errorf(api.CodeInvalid, "up has started no session %q of this project", name).WithHint("`longterm status` lists them")
		}
	}
	for i := range list {
		if slices.ContainsFunc(names, func(name string) bool { return is(&list[i], name) }) {
			found = append(found, list[i])
		}
	}
	return found, nil
}
