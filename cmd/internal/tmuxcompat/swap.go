//go:build unix

package tmuxcompat

import "slices"

// swapPane implements swap-pane: two panes exchange their places and sizes.
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
	there, other := x.splitOf(to.Window), x.splitOf(from.Window)
	a, b := other.find(from.Pane), there.find(to.Pane)
	a.pane, b.pane = to.Pane, from.Pane
	there.Zoom, other.Zoom = 0, 0
	was := from.place
	from.place, to.place = movedTo(from.place, to.place), movedTo(to.place, was)
	if !x.has('d') { // the one that was named is the active one; of two windows, each has the one that came
		if to.PaneUsed, err = x.nextUse(); err != nil {
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
		if err := x.applyLayout(from.Window); err != nil {
			return err
		}
	}
	return x.applyLayout(to.Window)
}

// movedTo returns p's place after the pane has moved to the position of target.
func movedTo(p, target place) place {
	target.Pane, target.Title, target.Command = p.Pane, p.Title, p.Command
	if p.Window == target.Window { // which one was used last goes with the pane
		target.PaneUsed, target.WinUsed = p.PaneUsed, p.WinUsed
	}
	return target
}

// rotateWindow implements rotate-window: each pane takes the place and size of the previous one, or of the next one.
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
	if turned[next%len(turned)].PaneUsed, err = x.nextUse(); err != nil {
		return err
	}
	d := x.splitOf(active.Window)
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
	return x.applyLayout(active.Window)
}

// otherWindow implements next-window, previous-window and last-window.
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
