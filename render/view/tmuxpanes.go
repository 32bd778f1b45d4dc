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
	return func() { splitOf(v, s, cells, made{line, o.dir(), o.has("d")}) }
}

// splitting is where a pane stands and how many cells it is long; 0: as its part says. ok is false where the size is none.
func (v *viewer) splitting(o flags) (s layout.Splitting, cells int, ok bool) {
	s = layout.Splitting{Stacked: !o.has("h"), Before: o.has("b"), Whole: o.has("f")}
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
		s.Part = float64(n) / 100
		return s, 0, true
	}
	return s, n + v.border(v.m.Below(), s.Stacked), true
}

// border is how many cells of a pane are not its session's.
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

// resizePane takes a number, one where there is none, or a size.
func resizePane(v *viewer, words []string) func() {
	o, rest, ok := options(words, "LRUDZ", "xy")
	if !ok || len(o) != 1 || o.has("Z") {
		return nil
	}
	for _, side := range []string{"x", "y"} {
		if o.has(side) && rest == "" {
			return v.sized(o[side], side == "y")
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

const noBorder = "there is no border to move"

// sized gives the pane a number of columns or rows, or a part of all; nil: it is none.
func (v *viewer) sized(text string, stacked bool) func() {
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

// rotateWindow is -U without words.
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
		id, why := v.paneCalled(o["s"])
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

// paneCalled is the session of a pane as tmux names it, TAB.PANE or TAB, or of a name.
func (v *viewer) paneCalled(target string) (id, why string) {
	if s := v.called(target); s != nil {
		return s.ID, ""
	}
	tab, pane, numbered := strings.Cut(strings.TrimLeft(target, ":="), ".")
	i, why := v.tabCalled(tab)
	if why != "" {
		return "", why
	}
	ids := v.m.Of(v.m.Tabs[i])
	if !numbered {
		return v.focusOf(v.m.Tabs[i], ids)
	}
	n, err := strconv.Atoi(pane)
	if err != nil || n < 1 || n > len(ids) {
		return "", "no pane " + target + "; they count from 1"
	}
	return ids[n-1], ""
}

// focusOf is the session that has the focus in a tab.
func (v *viewer) focusOf(t *model.Tab, ids []string) (id, why string) {
	for _, id := range ids {
		if id == t.Focus {
			return id, ""
		}
	}
	if len(ids) == 0 {
		return "", "there is no pane in it"
	}
	return ids[0], ""
}

// respawnPane ends what runs, with -k as in tmux, and starts it again in its pane.
func respawnPane(v *viewer, words []string) func() {
	if len(words) != 1 || words[0] != "-k" || v.o.Steward == nil || v.m.Session(v.m.Focus) == nil {
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
				err = v.o.Steward.Restart(v.ctx, id)
			}
			if err != nil {
				v.later(func() { v.message = "not started again: " + err.Error() })
			}
		})
	}
}

// formatted is a text with tmux's names for what is focused.
func (v *viewer) formatted(text string) string {
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
		"#{pane_current_path}", s.Cwd, "#{pane_current_command}", s.Command, "#{window_panes}", strconv.Itoa(len(v.m.Shown())),
	).Replace(text)
}

// moveWindow gives the tab the place of that number.
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

// moveTab gives the tab the place of a number; one behind all others is at the end.
func (v *viewer) moveTab(n int) {
	if n < 1 {
		v.message = "no tab " + strconv.Itoa(n) + "; they count from 1"
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
		i, why := v.tabCalled(name)
		if by, err := strconv.Atoi(name); err == nil && strings.ContainsAny(name[:1], "+-") { // so many tabs on
			i, why = (v.m.Current+by%len(v.m.Tabs)+len(v.m.Tabs))%len(v.m.Tabs), ""
		}
		if v.message = why; why == "" {
			v.m.SwapTabs(i)
		}
	}
}

// popup starts a session in a floating pane, which closes with it.
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
		createOf(v, made{line: line, dir: flags{"c": o["d"]}.dir()}, func(id string) {
			v.m.AddFloat(t, id)
			v.m.Focus, v.m.Zoomed = id, false
		})
	}
}
