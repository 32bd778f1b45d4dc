package project

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// finish checks relations between keys and sorts the sessions into their start order.
func (d *decoder) finish() {
	if !d.named {
		name := cleanName(filepath.Base(d.file.Root))
		d.file.Name = cmp.Or(name[:min(len(name), maxName)], "project")
		if d.file.Name == reservedName {
			d.file.Name = "project"
		}
	}
	seen := map[string]bool{}
	for i := range d.file.Sessions {
		s := &d.file.Sessions[i]
		switch {
		case s.Name == "":
			d.reportProblem(s.position, "sessions", "it has no name; give it one, as in name = \"web\"")
		case seen[s.Name]:
			d.reportProblem(s.position, "sessions", "the name %q comes twice", s.Name)
		}
		seen[s.Name] = true
	}
	if len(d.file.Sessions) == 0 {
		d.reportProblem(noPosition, "", "no sessions; add [[sessions]] with name = \"…\" for each")
	}
	for i := range d.file.Sessions {
		for _, a := range d.file.Sessions[i].After {
			if !seen[a] {
				d.reportProblem(d.file.Sessions[i].afterPosition, "after", "session %q not found%s", a, suggest(a, d.sessionNames()))
			}
		}
	}
	for i := range d.file.Tabs {
		t := &d.file.Tabs[i]
		if len(t.Sessions) == 0 {
			t.Sessions = d.sessionNames()
		}
		over := slices.Concat(t.Floating, t.Pinned)
		for _, s := range slices.Concat(t.Sessions, over) {
			if !seen[s] {
				d.reportProblem(t.position, "tabs", "session %q not found%s", s, suggest(s, d.sessionNames()))
			}
		}
		if len(t.Sessions) > 0 && !slices.ContainsFunc(t.Sessions, func(s string) bool { return !slices.Contains(over, s) }) {
			d.reportProblem(t.position, "tabs", "all of its sessions float; leave one below them")
		}
		if t.Focus != "" && !slices.Contains(t.Sessions, t.Focus) && !slices.Contains(over, t.Focus) {
			d.reportProblem(t.position, "tabs", "focus = %q: the tab does not show that", t.Focus)
		}
	}
	if len(d.problems) == 0 {
		d.sortSessions()
	}
}

// sessionNames returns the names of all sessions.
func (d *decoder) sessionNames() []string {
	var names []string
	for i := range d.file.Sessions {
		names = append(names, d.file.Sessions[i].Name)
	}
	return names
}

// sortSessions sorts each session after those it depends on, otherwise in file order.
func (d *decoder) sortSessions() {
	var sorted []Session
	done := map[string]bool{}
	left := slices.Clone(d.file.Sessions)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(s Session) bool {
			return !slices.ContainsFunc(s.After, func(a string) bool { return !done[a] })
		})
		if i < 0 {
			var circle []string
			for _, s := range left {
				circle = append(circle, s.Name)
			}
			d.reportProblem(left[0].afterPosition, "after", "%s wait for each other; take one out of the circle", strings.Join(circle, ", "))
			return
		}
		sorted, done[left[i].Name] = append(sorted, left[i]), true
		left = slices.Delete(left, i, i+1)
	}
	d.file.Sessions = sorted
}

// SessionName returns the daemon's name of a project session.
func (f *File) SessionName(name string) string { return f.Name + "-" + name }

// AllTab returns a tab of all sessions, for a file without tabs.
func (f *File) AllTab() Tab {
	t := Tab{Name: f.Name, Arrange: Arrangements[0]}
	for i := range f.Sessions {
		t.Sessions = append(t.Sessions, f.Sessions[i].Name)
	}
	return t
}
