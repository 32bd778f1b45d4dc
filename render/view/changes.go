package view

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// changes is the state of the changes panel.
type changes struct {
	panel      *overlays.List // nil: closed
	session    string
	draft      model.Draft
	loaded     bool
	problem    string // why the changes are missing
	fetching   bool   // a request is in progress
	fetchedFor string // state and draft mark of the session at the last request
}

// openChanges opens the list of the file changes in the focused session's draft.
func openChanges(v *viewer) {
	s := v.m.Session(v.m.Focus)
	switch {
	case v.o.Drafts == nil:
		v.message = "changes unavailable"
		return
	case s == nil:
		return
	case s.Draft == "":
		v.message = canvas.Printable(s.Name) + " has no draft of file changes; `longterm new --draft` starts a session with one"
		return
	}
	v.changes = changes{session: s.ID}
	v.changes.panel = &overlays.List{
		Title: "Changes of " + canvas.Printable(s.Name), Wide: true,
		Hint:  "Enter shows the diff",
		Items: func() []overlays.Item { return changeItems(v) }, OnKey: v.handleChangesKey,
	}
	v.open(v.changes.panel)
	v.fetchChanges()
}

// fetchChanges reads the changes while the list is shown, again after the session's mark or state has changed.
func (v *viewer) fetchChanges() {
	c := &v.changes
	s := v.m.Session(c.session)
	if c.panel == nil || v.overlay != overlays.Overlay(c.panel) || c.fetching || s == nil || c.fetchedFor == s.State+s.Draft {
		return
	}
	c.fetching, c.fetchedFor = true, s.State+s.Draft
	id := c.session
	v.runAsync(func(ctx context.Context) func() {
		d, err := v.o.Drafts.Changes(ctx, id)
		return func() {
			if v.changes.session != id {
				return
			}
			c := &v.changes
			c.draft, c.loaded, c.fetching, c.problem = d, true, false, ""
			if err != nil {
				c.problem = err.Error()
			}
			v.needsRedraw = true
			v.fetchChanges()
		}
	})
}

// changesHint is the hint about the keys of handleChangesKey.
const changesHint = "Ctrl-S commit  Ctrl-D discard  Ctrl-A commit all  Ctrl-X discard all"

func changeItems(v *viewer) []overlays.Item {
	c := &v.changes
	c.panel.Empty = "loading…"
	if c.loaded {
		c.panel.Empty = "no changes"
	}
	if c.problem != "" {
		return []overlays.Item{{Name: "unavailable", Text: c.problem, Sign: "!", Color: v.terminalTheme().Bad}}
	}
	out := make([]overlays.Item, 0, len(c.draft.Changes))
	for i := range c.draft.Changes {
		ch := &c.draft.Changes[i]
		sign, color := changeLook(v.terminalTheme(), ch)
		below := strings.TrimSpace(ch.Kind + " " + ch.Size)
		if ch.Note != "" {
			below += "; " + ch.Note
		}
		if ch.Conflict != "" {
			below += "\nconflict: " + ch.Conflict
		}
		below += "\n" + changesHint
		out = append(out, overlays.Item{
			Key: ch.Path, Text: ch.Name, Extra: strings.TrimSpace(ch.Size + "  " + ch.Kind), Names: ch.Kind + " " + ch.Conflict, Sign: sign, Color: color,
			Below: below, Do: func() { v.showDiff(ch) },
		})
	}
	return out
}

func changeLook(th *theme.Theme, ch *model.DraftChange) (sign string, c tcell.Color) {
	switch {
	case ch.Conflict != "":
		return "!", th.Bad
	case ch.Kind == "added":
		return "+", th.Good
	case ch.Kind == "deleted":
		return "-", th.Bad
	case ch.Kind == "meta":
		return "·", tcell.ColorDefault
	}
	return "~", th.Warn
}

// handleChangesKey commits or drops changes.
func (v *viewer) handleChangesKey(k input.Key, it *overlays.Item) (overlays.Result, bool) {
	if k.Mods&input.Ctrl == 0 || !v.changes.loaded || v.changes.problem != "" {
		return overlays.Result{}, false
	}
	var ch *model.DraftChange
	if it != nil {
		if i := slices.IndexFunc(v.changes.draft.Changes, func(c model.DraftChange) bool { return c.Path == it.Key }); i >= 0 {
			ch = &v.changes.draft.Changes[i]
		}
	}
	all := fmt.Sprintf("%s in %s", statusbar.Count(len(v.changes.draft.Changes), "change"), strings.Join(v.changes.draft.Roots, ", "))
	switch k.Code {
	case 's':
		if ch != nil {
			return overlays.Result{Then: func() { v.confirmChange(true, ch.Name, ch.Path) }}, true
		}
	case 'd':
		if ch != nil {
			return overlays.Result{Then: func() { v.confirmChange(false, ch.Name, ch.Path) }}, true
		}
	case 'a':
		return overlays.Result{Then: func() { v.confirmChange(true, all, "") }}, true
	case 'x':
		return overlays.Result{Then: func() { v.confirmChange(false, all, "") }}, true
	default:
		return overlays.Result{}, false
	}
	return overlays.Result{}, true
}

// confirmChange shows a question, and after a yes commits or discards a path, or all if path is "".
func (v *viewer) confirmChange(commits bool, what, path string) {
	s := v.m.Session(v.changes.session)
	switch {
	case s == nil:
		return
	case v.m.ReadOnly:
		v.message = "read-only: nothing is changed; " + v.keys.Chord("read-only") + " turns it off"
		return
	case s.State == model.StateRunning:
		v.message = "end the session first: " + v.keys.Chord("kill") + "; " + v.keys.Chord("restart") + " starts it again in its draft"
		return
	}
	back := func() { v.open(v.changes.panel) }
	verb := "discard"
	switch {
	case commits:
		verb = "commit"
	case path != "":
		verb = "discard the change of"
	}
	v.open(&overlays.Confirmation{
		Text: verb + " " + statusbar.Cut(canvas.Printable(what), 60) + "?", Behind: v.changes.panel, No: back,
		Yes: func() {
			back()
			v.applyChanges(commits, path)
		},
	})
}

// applyChanges commits or discards a path, or everything, and then reads the changes again.
func (v *viewer) applyChanges(commits bool, path string) {
	id, expect := v.changes.session, v.changes.draft.ID
	var paths []string
	if path != "" {
		paths = []string{path}
	}
	v.runAsync(func(ctx context.Context) func() {
		var r model.DraftResult
		var err error
		if commits {
			r, err = v.o.Drafts.Commit(ctx, id, expect, paths)
		} else {
			r, err = v.o.Drafts.Discard(ctx, id, paths)
		}
		return func() {
			switch {
			case err != nil:
				v.message = err.Error()
			case commits:
				v.message = statusbar.Count(r.Changes, "change") + " committed"
			default:
				v.message = statusbar.Count(r.Changes, "change") + " discarded"
			}
			if v.changes.session != id {
				return
			}
			if r.Empty && err == nil && v.overlay == overlays.Overlay(v.changes.panel) {
				v.closeOverlay()
				return
			}
			v.changes.fetchedFor = ""
			v.fetchChanges()
		}
	})
}

// maxDiffLines bounds the lines of a shown diff.
const maxDiffLines = 5000

// showDiff shows the diff of a change. Escape and Enter lead back to the list.
func (v *viewer) showDiff(ch *model.DraftChange) {
	id, name, path, session := v.changes.session, ch.Name, ch.Path, v.changes.session
	if s := v.m.Session(id); s != nil {
		session = s.Name
	}
	var items []overlays.Item
	panel := &overlays.List{
		Title: canvas.Printable(name), Wide: true, Empty: "loading…", Hint: "Enter goes back", Items: func() []overlays.Item { return items },
		OnKey: func(k input.Key, _ *overlays.Item) (overlays.Result, bool) {
			if k.Code == input.KeyEnter || k.Code == input.KeyEscape {
				return overlays.Result{Then: func() { v.open(v.changes.panel); v.fetchChanges() }}, true
			}
			return overlays.Result{}, false
		},
	}
	v.open(panel)
	v.runAsync(func(ctx context.Context) func() {
		text, err := v.o.Drafts.Diff(ctx, id, path)
		return func() {
			panel.Empty = "no difference in content"
			if err != nil {
				panel.Empty = err.Error()
			}
			var added, removed int
			if items, added, removed = diffItems(v.terminalTheme(), text, "longterm diff "+session); err == nil {
				panel.Title = fmt.Sprintf("%s  +%d -%d lines ", canvas.Printable(name), added, removed)
			}
			v.needsRedraw = true
		}
	})
}

// diffItems returns the lines of a diff, and the numbers of added and removed lines. fullCommand shows the whole diff
// if it is truncated.
func diffItems(th *theme.Theme, text, fullCommand string) (items []overlays.Item, added, removed int) {
	inHunk := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		it := overlays.Item{Text: line}
		inHunk = strings.HasPrefix(line, "@@") || inHunk && !strings.HasPrefix(line, "diff --git ")
		switch {
		case strings.HasPrefix(line, "@@"):
			it.Sign, it.Color = "@", th.Busy
		case inHunk && line != "" && line[0] == '+':
			it.Sign, it.Color, it.Text = "+", th.Good, line[1:]
			added++
		case inHunk && line != "" && line[0] == '-':
			it.Sign, it.Color, it.Text = "-", th.Bad, line[1:]
			removed++
		case inHunk && line != "" && line[0] == ' ':
			it.Text = line[1:]
		}
		if len(items) < maxDiffLines {
			it.Text = strings.ReplaceAll(it.Text, "\t", "    ")
			items = append(items, it)
		} else if len(items) == maxDiffLines {
			items = append(items, overlays.Item{Sign: "…", Text: "`" + fullCommand + "` shows the rest"})
		}
	}
	return items, added, removed
}
