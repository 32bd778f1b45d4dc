//go:build unix

package tmuxcompat

// respawnPane implements respawn-pane: it starts a program in a pane, which keeps its number, place and size.
func respawnPane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	if !x.has('k') {
		return fail("respawn pane failed: pane %s still active", x.format("#{session_name}:#{window_index}.#{pane_index}", p))
	}
	if err := x.end([]*pane{p}); err != nil {
		return err
	}
	next := &pane{place: p.place}
	if p.Command != "" { // else it was a shell, which is started without words
		next.lastArgv = p.s.Argv
	}
	return x.start(next, p.s.Cols, p.s.Rows, p.s.Cwd)
}

// breakPane implements break-pane: it moves a pane to a new window.
func breakPane(x *command) error {
	p, err := x.pane(x.flag('s'))
	if err != nil {
		return err
	}
	to := x.flag('t')
	if to == "" {
		to = p.Session + ":"
	}
	session, index, err := x.newIndex(to)
	if err != nil {
		return err
	}
	if len(x.windowAt(session, index)) > 0 {
		return fail("index in use: %d", index)
	}
	of, left := x.activeOf(session), p.Window
	x.splitOf(left) // as it was
	n, err := x.updateState(func(n *serverState) { n.Window++; n.Used++ })
	if err != nil {
		return err
	}
	p.Session, p.SessionID, p.Created, p.Cols, p.Rows = of.Session, of.SessionID, of.Created, of.Cols, of.Rows
	p.Window, p.Index, p.Name, p.Order, p.PaneUsed, p.WinUsed = n.Window, index, x.flag('n'), 0, n.Used, 0
	if !x.has('d') {
		p.WinUsed = n.Used
	}
	if err := x.save(x.ctx, p); err != nil {
		return err
	}
	x.sort()
	if err := x.reclaimSpace(left); err != nil {
		return err
	}
	if err := x.resize(p, p.Cols, p.Rows); err != nil {
		return err
	}
	x.printNew(p, "#{session_name}:#{window_index}.#{pane_index}")
	return nil
}

// joinPane implements join-pane: it moves a pane beside another one.
func joinPane(x *command) error {
	p, err := x.pane(x.flag('s'))
	if err != nil {
		return err
	}
	of, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	if p == of {
		return fail("source and target panes must be different")
	}
	d, room, err := x.makeRoom(of, "create pane failed: pane too small")
	if err != nil {
		return err
	}
	if old := d.find(p.Pane); old != nil {
		d.remove(old)
	}
	room.pane = p.Pane
	used, err := x.nextUse()
	if err != nil {
		return err
	}
	left := p.Window
	x.splitOf(left) // as it was
	id, title, line := p.Pane, p.Title, p.Command
	x.panes = x.filter(func(o *pane) bool { return o != p }) // it is no neighbour of itself
	p.place = of.place
	p.Pane, p.Title, p.Command, p.PaneUsed = id, title, line, 0
	if !x.has('d') {
		p.PaneUsed = used
	}
	if err := x.order(p, of); err != nil {
		return err
	}
	x.panes = append(x.panes, p)
	x.sort()
	if x.has('d') {
		err = x.save(x.ctx, p)
	} else {
		err = x.show(x.inWindow(p.Window), used)
	}
	if err != nil {
		return err
	}
	if left != of.Window {
		if err := x.reclaimSpace(left); err != nil {
			return err
		}
	}
	return x.applyLayout(of.Window)
}
