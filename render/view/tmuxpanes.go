package view

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

// The commands of tmux that are about where panes stand.

func splitWindow(v *viewer, words []string) func() {
	o, line, ok := options(words, "hvdbf", "clp")
	if !ok {
		return nil
	}
	s, cells, ok := v.splitting(o)
	if !ok {
		return nil
	}
	return func() { splitOf(v, s, cells, startSpec{line, o.dir(), o.has("d")}) }
}

// splitting returns where a new pane goes and its length in cells; 0 uses the share of s. ok is false if the size is
// invalid.
func (v *viewer) splitting(o flags) (s layout.Splitting, cells int, ok bool) {
	s = layout.Splitting{Stacked: !o.has("h"), Before: o.has("b"), FullLength: o.has("f")}
	text, percent := o["l"], false
	if o.has("p") {
		text, percent = o["p"], true
	}
	if bare, is := strings.CutSuffix(text, "%"); is {
		text, percent = bare, true
	}
	if text == "" {
		return s, 0, !o.has("l") && !o.has("p")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || percent && n > 99 || n > 1000 {
		return s, 0, false
	}
	if percent {
		s.Share = float64(n) / 100
		return s, 0, true
	}
	return s, n + v.border(v.m.LastTiled(), s.Stacked), true
}

// border returns how many cells of a pane belong to its border.
func (v *viewer) border(id string, stacked bool) int {
	p := v.panes.Get(id)
	switch {
	case p == nil:
		return 0
	case stacked:
		return p.Area.H - p.Inner().H
	}
	return p.Area.W - p.Inner().W
}

// resizePane accepts a number of cells (default 1) or a size.
func resizePane(v *viewer, words []string) func() {
	o, rest, ok := options(words, "LRUDZ", "xy")
	if !ok || len(o) != 1 || o.has("Z") {
		return nil
	}
	for _, side := range []string{"x", "y"} {
		if o.has(side) && rest == "" {
			return v.resizeTo(o[side], side == "y")
		}
	}
	if rest == "" {
		rest = "1"
	}
	cells, err := strconv.Atoi(rest)
	if err != nil || cells < 1 || cells > 1000 {
		return nil
	}
	if o.has("L") || o.has("U") {
		cells = -cells
	}
	return func() {
		if !v.m.MoveBorder(v.paneArea(), o.has("U") || o.has("D"), cells) {
			v.message = noBorder
		}
	}
}

const noBorder = "no border to move"

// resizeTo returns a function that resizes the pane to a number of columns or rows, or a share of all. It returns nil for
// an invalid size.
func (v *viewer) resizeTo(text string, stacked bool) func() {
	bare, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(bare)
	if err != nil || n < 1 || n > 1000 || percent && n > 100 {
		return nil
	}
	return func() {
		p, all := v.panes.Get(v.m.Focus), v.paneArea()
		if p == nil {
			return
		}
		is, whole := p.Inner().W, all.W
		if stacked {
			is, whole = p.Inner().H, all.H
		}
		if percent {
			n = whole * n / 100
		}
		if !v.m.Grow(all, stacked, n-is) {
			v.message = noBorder
		}
	}
}

// rotateWindow rotates the panes; without words as with -U.
func rotateWindow(v *viewer, words []string) func() {
	o, rest, ok := options(words, "DUZ", "")
	if !ok || rest != "" {
		return nil
	}
	return func() { v.m.Rotate(v.paneArea(), o.has("D")) }
}

// joinPane takes a session from another tab.
func joinPane(v *viewer, words []string) func() {
	o, rest, ok := options(words, "hvbdf", "slp")
	if !ok || rest != "" || o["s"] == "" {
		return nil
	}
	s, cells, ok := v.splitting(o)
	if !ok {
		return nil
	}
	return func() {
		id, why := v.paneNamed(o["s"])
		if why == "" {
			why = v.m.Join(v.paneArea(), id, s, cells)
		}
		if why != "" {
			v.message = why
			return
		}
		if !o.has("d") {
			v.m.Focus, v.m.Zoomed = id, false
		}
	}
}

// paneNamed returns the session of a pane in tmux's form, TAB.PANE or TAB, or of a session name.
func (v *viewer) paneNamed(target string) (id, why string) {
	if s := v.sessionNamed(target); s != nil {
		return s.ID, ""
	}
	tab, pane, numbered := strings.Cut(strings.TrimLeft(target, ":="), ".")
	i, why := v.tabNamed(tab)
	if why != "" {
		return "", why
	}
	ids := v.m.SessionsOf(v.m.Tabs[i])
	if !numbered {
		return v.focusOf(v.m.Tabs[i], ids)
	}
	n, err := strconv.Atoi(pane)
	if err != nil || n < 1 || n > len(ids) {
		return "", "no pane " + target + "; panes count from 1"
	}
	return ids[n-1], ""
}

// focusOf returns the focused session of a tab.
func (v *viewer) focusOf(t *model.Tab, ids []string) (id, why string) {
	for _, id := range ids {
		if id == t.Focus {
			return id, ""
		}
	}
	if len(ids) == 0 {
		return "", "tab has no panes"
	}
	return ids[0], ""
}

// respawnPane restarts the session's program in its pane; -k also ends a running one, as in tmux.
func respawnPane(v *viewer, words []string) func() {
	if len(words) != 1 || words[0] != "-k" || v.o.SessionManager == nil || v.m.Session(v.m.Focus) == nil {
		return nil
	}
	id := v.m.Focus
	if !v.m.Running(id) {
		return func() { restart(v) }
	}
	return func() {
		v.spawn(func() {
			err := v.src.Kill(v.ctx, id)
			if err == nil {
				err = v.o.SessionManager.Restart(v.ctx, id)
			}
			if err != nil {
				v.later(func() { v.message = "not restarted: " + err.Error() })
			}
		})
	}
}

// expandFormat replaces tmux's format variables by those of the focused session.
func (v *viewer) expandFormat(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	var s model.Session
	if is := v.m.Session(v.m.Focus); is != nil {
		s = *is
	}
	tab, pane := strconv.Itoa(v.m.Current+1), strconv.Itoa(v.m.Number(v.m.Focus))
	return strings.NewReplacer(
		"#S", s.Name, "#{session_name}", s.Name, "#W", v.m.Title(v.m.Current), "#{window_name}", v.m.Title(v.m.Current),
		"#I", tab, "#{window_index}", tab, "#P", pane, "#{pane_index}", pane, "#D", s.ID, "#{pane_id}", s.ID, "#{session_id}", s.ID,
		"#{pane_current_path}", s.Cwd, "#{pane_current_command}", s.Command, "#{window_panes}", strconv.Itoa(len(v.m.ShownPanes())),
	).Replace(text)
}

// moveWindow moves the tab to a number.
func moveWindow(v *viewer, words []string) func() {
	o, rest, ok := options(words, "d", "t")
	if !ok || rest != "" {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimLeft(o["t"], ":="))
	if err != nil {
		return nil
	}
	return func() { v.moveTab(n) }
}

// moveTab moves the tab to a number, at most to the end.
func (v *viewer) moveTab(n int) {
	if n < 1 {
		v.message = "no tab " + strconv.Itoa(n) + "; tabs count from 1"
		return
	}
	v.m.MoveTab(n - 1)
}

func swapWindow(v *viewer, words []string) func() {
	o, rest, ok := options(words, "d", "t")
	if !ok || rest != "" || o["t"] == "" {
		return nil
	}
	return func() {
		name := strings.TrimLeft(o["t"], ":=")
		i, why := v.tabNamed(name)
		// relative: that number of tabs further
		if by, err := strconv.Atoi(name); err == nil && strings.ContainsAny(name[:1], "+-") {
			i, why = (v.m.Current+by%len(v.m.Tabs)+len(v.m.Tabs))%len(v.m.Tabs), ""
		}
		if v.message = why; why == "" {
			v.m.SwapTabs(i)
		}
	}
}

// popup starts a session in a floating pane that closes with it.
func popup(v *viewer, words []string) func() {
	o, line, ok := options(words, "BCEk", "bcdehsStTwxy")
	if !ok {
		return nil
	}
	return func() {
		if !layout.CanFloat(v.paneArea()) {
			v.message = noFloats
			return
		}
		t := v.m.Tab()
		createFrom(v, startSpec{line: line, dir: flags{"c": o["d"]}.dir()}, func(id string) {
			v.m.AddFloat(t, id)
			v.m.Focus, v.m.Zoomed = id, false
		})
	}
}
