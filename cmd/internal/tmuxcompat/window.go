//go:build unix

package tmuxcompat

// What moves windows.

// moveWindow implements move-window: to another number or session; -r renumbers all windows.
func moveWindow(x *command) error {
	if x.has('r') {
		name, err := x.session(x.flag('t'))
		if err != nil {
			return err
		}
		return x.renumber(name)
	}
	panes, err := x.window(x.flag('s'))
	if err != nil {
		return err
	}
	from := panes[0]
	session, index, err := x.newIndex(x.flag('t'))
	if err != nil {
		return err
	}
	switch taken := x.windowAt(session, index); {
	case len(taken) == 0:
	case x.has('a') || x.has('b'):
		if index, err = x.shift(session, index); err != nil {
			return err
		}
	case taken[0].Window == from.Window:
		return fail("same index: %d", index)
	case x.has('k'):
		if err := x.kill(taken); err != nil {
			return err
		}
	default:
		return fail("index in use: %d", index)
	}
	of := *from
	if there := x.activeOf(session); there != nil {
		of = *there
	}
	used, err := x.nextUse()
	if err != nil {
		return err
	}
	for _, p := range panes {
		p.Session, p.SessionID, p.Created, p.Index = session, of.SessionID, of.Created, index
		if !x.has('d') {
			p.WinUsed = used
		}
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	x.sort()
	return nil
}

// renumber gives a session's windows the numbers from 0 on.
func (x *command) renumber(session string) error {
	for i, first := range windows(x.inSession(session)) {
		for _, p := range x.inWindow(first.Window) {
			if p.Index == i {
				continue
			}
			p.Index = i
			if err := x.save(x.ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// swapWindow implements swap-window: two windows exchange their numbers and sessions.
func swapWindow(x *command) error {
	a, err := x.window(x.flag('s'))
	if err != nil {
		return err
	}
	b, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if a[0].Window == b[0].Window {
		return nil
	}
	was, to := a[0].place, b[0].place
	wasUsed, toUsed := x.windowUsed(a[0]), x.windowUsed(b[0])
	put := func(panes []*pane, at place, used int) error {
		for _, p := range panes {
			p.Session, p.SessionID, p.Created, p.Index, p.WinUsed = at.Session, at.SessionID, at.Created, at.Index, used
			if err := x.save(x.ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(a, to, toUsed); err != nil { // which number is shown stays
		return err
	}
	if err := put(b, was, wasUsed); err != nil {
		return err
	}
	x.sort()
	if !x.has('d') {
		return nil
	}
	used, err := x.nextUse()
	if err != nil {
		return err
	}
	return x.show(a, used)
}

// respawnWindow implements respawn-window: it restarts the first pane's program, and ends the window's other panes.
func respawnWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if !x.has('k') {
		return fail("respawn window failed: window %s still active", x.format("#{session_name}:#{window_index}", panes[0]))
	}
	if len(panes) > 1 {
		if err := x.kill(panes[1:]); err != nil {
			return err
		}
	}
	x.flags['t'] = []string{x.format("#{pane_id}", panes[0])}
	if err := respawnPane(x); err != nil {
		return err
	}
	used, err := x.nextUse()
	if err != nil {
		return err
	}
	return x.show(x.inWindow(panes[0].Window), used)
}
