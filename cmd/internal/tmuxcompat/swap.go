//go:build unix

package tmuxcompat

import "slices"

// swapPane is swap-pane: two panes change their places and their sizes.
func swapPane(x *command) error {
	to, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	panes := x.inWindow(to.Window)
	here := slices.Index(panes, to)
	var from *pane
	switch {
	case x.has('U'):
		from = panes[(here+len(panes)-1)%len(panes)]
	case x.has('D'):
		from = panes[(here+1)%len(panes)]
	default:
		if from, err = x.pane(x.flag('s')); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	there, other := x.divided(to.Window), x.divided(from.Window)
	a, b := other.find(from.Pane), there.find(to.Pane)
	a.pane, b.pane = to.Pane, from.Pane
	there.Zoom, other.Zoom = 0, 0
	was := from.place
	from.place, to.place = at(from.place, to.place), at(to.place, was)
	if !x.has('d') { // the one that was named is the active one; of two windows, each has the one that came
		if to.PaneUsed, err = x.used(); err != nil {
			return err
		}
		if from.Window != to.Window {
			from.PaneUsed = to.PaneUsed
		}
	}
	for _, p := range []*pane{from, to} {
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	x.sort()
	if from.Window != to.Window {
		if err := x.lay(from.Window); err != nil {
			return err
		}
	}
	return x.lay(to.Window)
}

// at is a pane that stands where another one did.
func at(p, of place) place {
	of.Pane, of.Title, of.Command = p.Pane, p.Title, p.Command
	if p.Window == of.Window { // which one was used last goes with the pane
		of.PaneUsed, of.WinUsed = p.PaneUsed, p.WinUsed
	}
	return of
}

// rotateWindow is rotate-window: each pane takes the place and the size of the one before it, or of the next one.
func rotateWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if len(panes) < 2 {
		return nil
	}
	active := activeIn(panes)
	cut := 1
	if x.has('D') {
		cut = len(panes) - 1
	}
	turned := slices.Concat(panes[cut:], panes[:cut])
	next := slices.Index(turned, active) + 1
	if x.has('D') {
		next += len(turned) - 2
	}
	if turned[next%len(turned)].PaneUsed, err = x.used(); err != nil {
		return err
	}
	d := x.divided(active.Window)
	d.Zoom = 0
	cells := make([]*cell, len(panes))
	for i, p := range panes {
		cells[i] = d.find(p.Pane)
	}
	for i, p := range turned {
		p.Order, cells[i].pane = i, p.Pane
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	x.sort()
	return x.lay(active.Window)
}

// otherWindow is next-window, previous-window and last-window.
func otherWindow(flag byte) func(*command) error {
	return func(x *command) error {
		session, err := x.session(x.flag('t'))
		if err != nil {
			return err
		}
		x.flags = map[byte][]string{'t': {"=" + session + ":"}, flag: {""}}
		return selectWindow(x)
	}
}

func lastPane(x *command) error {
	x.flags['l'] = []string{""}
	return selectPane(x)
}
