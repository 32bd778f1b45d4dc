//go:build unix

package tmuxcompat

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// labelOf returns the label value that records a pane's place.
func labelOf(p *pane) (string, error) {
	b, err := json.Marshal(p.place)
	return string(b), err
}

// codeOf returns the code of an API error, or "".
func codeOf(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// kill kills panes; the other panes of their windows take the space.
func (x *command) kill(panes []*pane) error {
	var ids []int
	for _, p := range panes {
		if !slices.Contains(ids, p.Window) {
			x.splitOf(p.Window) // as it was
			ids = append(ids, p.Window)
		}
	}
	if err := x.end(panes); err != nil {
		return err
	}
	return x.reclaimSpace(ids...)
}

// end ends panes concurrently. A pane that has already ended is not an error.
func (x *command) end(panes []*pane) error {
	errs := make([]error, len(panes))
	var wg sync.WaitGroup
	for i, p := range panes {
		wg.Go(func() {
			_, err := x.daemon.Session(p.s.ID).Kill(x.ctx, api.Kill{})
			if c := codeOf(err); c != api.CodeEnded && c != api.CodeNotFound {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	x.panes = slices.DeleteFunc(x.panes, func(p *pane) bool { return slices.Contains(panes, p) })
	return errors.Join(errs...)
}

func killPane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	panes := []*pane{p}
	if x.has('a') {
		panes = slices.DeleteFunc(x.inWindow(p.Window), func(o *pane) bool { return o == p })
	}
	return x.kill(panes)
}

func killWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if x.has('a') {
		id := panes[0].Window
		panes = slices.DeleteFunc(x.inSession(panes[0].Session), func(o *pane) bool { return o.Window == id })
	}
	return x.kill(panes)
}

func killSession(x *command) error {
	name, err := x.session(x.flag('t'))
	if err != nil || x.has('C') {
		return err
	}
	if x.has('a') {
		return x.kill(x.filter(func(p *pane) bool { return p.Session != name }))
	}
	return x.kill(x.inSession(name))
}

func killServer(x *command) error { return x.kill(slices.Clone(x.panes)) }

// attach implements attach-session: it shows the panes of the active window in the viewer.
func attach(x *command) error {
	name, err := x.session(x.flag('t'))
	if err != nil {
		return err
	}
	if !x.Terminal {
		return fail("open terminal failed: not a terminal")
	}
	var ids []string
	for _, p := range x.inWindow(x.activeOf(name).Window) {
		ids = append(ids, p.s.ID)
	}
	return x.Show(x.ctx, ids)
}

func selectPane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	panes := x.inWindow(p.Window)
	switch {
	case x.has('T'):
		p.Title = x.format(x.flag('T'), p)
		return x.save(x.ctx, p)
	case x.has('P') || x.has('m') || x.has('M') || x.has('d') || x.has('e'):
		return nil // looks, marks and locks are tmux's own
	case x.has('l'):
		if p = paneIn(panes, "!"); p == nil {
			return fail("no last pane")
		}
	case x.has('L'):
		p = x.neighbour(p, left)
	case x.has('R'):
		p = x.neighbour(p, right)
	case x.has('U'):
		p = x.neighbour(p, up)
	case x.has('D'):
		p = x.neighbour(p, down)
	}
	if p == nil || p == activeIn(panes) {
		return nil
	}
	if d := x.splitOf(p.Window); d.Zoom > 0 {
		if d.Zoom = 0; x.has('Z') {
			d.Zoom = p.Pane + 1
		}
		if err := x.applyLayout(p.Window); err != nil {
			return err
		}
	}
	if p.PaneUsed, err = x.nextUse(); err != nil {
		return err
	}
	return x.save(x.ctx, p)
}

func selectWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	for flag, word := range map[byte]string{'n': "+", 'p': "-", 'l': "!"} {
		if x.has(flag) {
			if panes = x.windowIn(panes[0].Session, word); panes == nil {
				return fail("no last window")
			}
		}
	}
	used, err := x.nextUse()
	if err != nil {
		return err
	}
	return x.show(panes, used)
}

// show makes a window the active one of its session. All its panes record that, because any of them may end.
func (x *command) show(panes []*pane, used int) error {
	for _, p := range panes {
		p.WinUsed = used
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func renameWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if len(x.args) != 1 {
		return fail("command rename-window: too few arguments (need at least 1)")
	}
	for _, p := range panes {
		if p.Name = x.format(x.args[0], p); len(p.Name) > 128 {
			return fail("the name is too long")
		}
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func renameSession(x *command) error {
	name, err := x.session(x.flag('t'))
	if err != nil {
		return err
	}
	if len(x.args) != 1 {
		return fail("command rename-session: too few arguments (need at least 1)")
	}
	to := strings.NewReplacer(".", "_", ":", "_").Replace(x.args[0])
	switch {
	case to == "" || len(to) > 128:
		return fail("invalid session: %s", to)
	case to == name:
		return nil
	case len(x.inSession(to)) > 0:
		return fail("duplicate session: %s", to)
	}
	for _, p := range x.inSession(name) {
		p.Session = to
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// resize changes a pane's size.
func (x *command) resize(p *pane, cols, rows int) error {
	cols, rows = max(1, cols), max(1, rows)
	if p.s.Cols == cols && p.s.Rows == rows {
		return nil
	}
	err := x.daemon.Session(p.s.ID).Resize(x.ctx, cols, rows)
	if c := codeOf(err); c == api.CodeEnded {
		return nil
	}
	if err == nil {
		p.s.Cols, p.s.Rows = cols, rows
	}
	return err
}
