//go:build unix

package tmuxcompat

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// newSession implements new-session.
func newSession(x *command) error {
	name := strings.NewReplacer(".", "_", ":", "_").Replace(x.format(x.flag('s'), x.current()))
	if name == "" && x.has('s') {
		return fail("invalid session: ")
	}
	if x.has('t') && name == "" {
		name = x.flag('t')
	}
	if name != "" && len(x.inSession(name)) > 0 {
		if !x.has('A') {
			return fail("duplicate session: %s", name)
		}
		x.flags['t'] = []string{"=" + name}
		return attach(x)
	}
	if !x.has('d') && !x.Terminal {
		return fail("open terminal failed: not a terminal")
	}
	cols, err := size(x.flag('x'), 80)
	if err != nil {
		return fail("width %v", err)
	}
	rows, err := size(x.flag('y'), 24)
	if err != nil {
		return fail("height %v", err)
	}
	if len(x.panes) == 0 { // a server that starts knows nothing of the one before
		if err := x.setBuffers(nil); err != nil {
			return err
		}
	}
	n, err := x.updateState(func(n *serverState) { n.Session++; n.Window++; n.Pane++; n.Used++ })
	if err != nil {
		return err
	}
	if name == "" {
		name = strconv.Itoa(n.Session)
	}
	p := &pane{place: place{
		Socket: x.socket, Session: name, SessionID: n.Session, Created: now(), Window: n.Window, Name: x.flag('n'),
		Cols: cols, Rows: rows, Pane: n.Pane, PaneUsed: n.Used, WinUsed: n.Used,
	}}
	if err := x.start(p, cols, rows, x.Cwd); err != nil {
		return err
	}
	x.printNew(p, "#{session_name}:")
	if x.has('d') {
		return nil
	}
	return x.Show(x.ctx, []string{p.s.ID})
}

// size parses a number of cells.
func size(text string, otherwise int) (int, error) {
	if text == "" || text == "-" {
		return otherwise, nil
	}
	return count(text, 1000)
}

// count parses a number from 1 to most.
func count(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errInvalid
	case n < 1:
		return 0, errors.New("too small")
	case n > most:
		return 0, errors.New("too large")
	}
	return n, nil
}

// newWindow implements new-window.
func newWindow(x *command) error {
	session, index, err := x.newIndex(x.flag('t'))
	if err != nil {
		return err
	}
	if name := x.flag('n'); x.has('S') && name != "" { // one of that name does
		if panes := x.windowIn(session, "="+name); panes != nil {
			used, err := x.nextUse()
			if err != nil || x.has('d') {
				return err
			}
			return x.show(panes, used)
		}
	}
	of := x.activeOf(session)
	if taken := x.windowAt(session, index); len(taken) > 0 {
		switch {
		case x.has('k'):
			if err := x.kill(taken); err != nil {
				return err
			}
		case x.has('a') || x.has('b'):
		default:
			return fail("create window failed: index %d in use", index)
		}
	}
	if x.has('a') || x.has('b') {
		if index, err = x.shift(session, index); err != nil {
			return err
		}
	}
	n, err := x.updateState(func(n *serverState) { n.Window++; n.Pane++; n.Used++ })
	if err != nil {
		return err
	}
	p := &pane{place: place{
		Socket: x.socket, Session: session, SessionID: of.SessionID, Created: of.Created, Window: n.Window, Index: index,
		Name: x.flag('n'), Cols: of.Cols, Rows: of.Rows, Pane: n.Pane, PaneUsed: n.Used,
	}}
	if !x.has('d') {
		p.WinUsed = n.Used
	}
	if err := x.start(p, of.Cols, of.Rows, x.Cwd); err != nil {
		return err
	}
	x.printNew(p, "#{session_name}:#{window_index}.#{pane_index}")
	return nil
}

// newIndex returns the session and index of a new window: the given index, else the lowest free one.
func (x *command) newIndex(target string) (string, int, error) {
	session, word, named := strings.Cut(target, ":")
	if !named { // a session, or an index of this one
		if n, err := strconv.Atoi(target); err == nil && len(x.inSession(target)) == 0 {
			name, err := x.session("")
			return name, n, err
		}
		word = ""
	}
	name, err := x.session(session)
	if err != nil {
		panes, other := x.window(target)
		if other != nil {
			return "", 0, err
		}
		name = panes[0].Session
	}
	if x.has('a') || x.has('b') {
		panes, err := x.window(target)
		if err != nil {
			return "", 0, err
		}
		return panes[0].Session, panes[0].Index, nil
	}
	if word != "" {
		if n, err := strconv.Atoi(word); err == nil {
			return name, n, nil
		}
		if panes := x.windowIn(name, word); panes != nil {
			return name, panes[0].Index, nil
		}
		return "", 0, fail("can't find window: %s", word)
	}
	free := 0
	for len(x.windowAt(name, free)) > 0 {
		free++
	}
	return name, free, nil
}

func (c *call) windowAt(session string, index int) []*pane {
	return c.filter(func(p *pane) bool { return p.Session == session && p.Index == index })
}

// shift makes room for a window after (-a) or before (-b) an index, and returns the free index.
func (x *command) shift(session string, index int) (int, error) {
	if x.has('a') {
		index++
	}
	last := index
	for len(x.windowAt(session, last)) > 0 {
		last++
	}
	for _, p := range x.inSession(session) {
		if p.Index >= index && p.Index < last {
			p.Index++
			if err := x.save(x.ctx, p); err != nil {
				return 0, err
			}
		}
	}
	return index, nil
}

// splitWindow implements split-window.
func splitWindow(x *command) error {
	of, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	d, room, err := x.makeRoom(of, "no space for new pane")
	if err != nil {
		return err
	}
	n, err := x.updateState(func(n *serverState) { n.Pane++; n.Used++ })
	if err != nil {
		return err
	}
	p := &pane{place: of.place}
	p.Pane, p.Title, p.PaneUsed = n.Pane, "", 0
	if !x.has('d') { // it is its window's active one; which window is shown stays
		p.PaneUsed = n.Used
	}
	if err := x.order(p, of); err != nil {
		return err
	}
	room.pane = p.Pane
	d.storedSizes[p.Pane] = [2]int{room.w, room.h}
	if err := x.start(p, room.w, room.h, x.Cwd); err != nil {
		return err
	}
	if err := x.applyLayout(p.Window); err != nil {
		return err
	}
	x.printNew(p, "#{session_name}:#{window_index}.#{pane_index}")
	return nil
}

// makeRoom makes space for a new pane in a pane's window, by -h, -b, -f and the size. It returns the new cell. lacking is
// the error for too little space.
func (x *command) makeRoom(target *pane, lacking string) (d *windowSplit, room *cell, err error) {
	part, err := x.newPaneSize(x.splitBase(target))
	if err != nil {
		return nil, nil, err
	}
	d, along := x.splitOf(target.Window), below
	if x.has('h') {
		along = beside
	}
	d.Zoom = 0
	if room = d.split(d.find(target.Pane), along, part, x.has('b'), x.has('f')); room == nil {
		return nil, nil, fail("%s", lacking)
	}
	return d, room, nil
}

// splitBase returns the size that a new pane's percentage refers to.
func (x *command) splitBase(target *pane) int {
	d := x.splitOf(target.Window)
	c := d.find(target.Pane)
	if x.has('f') { // along the whole window
		c = d.root
	}
	if x.has('h') {
		return c.w
	}
	return c.h
}

// newPaneSize returns the size of a new pane in cells, from whole: half of it, -l N, -l N% or -p N.
func (x *command) newPaneSize(whole int) (int, error) {
	text, percent := x.flag('l'), false
	if x.has('p') {
		text, percent = x.flag('p'), true
	}
	if bare, ok := strings.CutSuffix(text, "%"); ok {
		text, percent = bare, true
	}
	if text == "" {
		after := (whole+1)/2 - 1
		if x.has('b') { // the one before has what is over
			return whole - 1 - after, nil
		}
		return after, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, fail("%s invalid", x.partName(percent))
	case n < 0:
		return 0, fail("%s too small", x.partName(percent))
	case percent:
		return max(1, whole*n/100), nil
	}
	return max(1, n), nil
}

// partName returns tmux's wording for a new pane's size in errors.
func (x *command) partName(percent bool) string {
	switch {
	case x.has('p'):
		return "create pane failed: -p"
	case percent:
		return "percentage"
	}
	return "lines"
}

// order places a pane after another pane, or before it (-b).
func (x *command) order(p, target *pane) error {
	panes := x.inWindow(target.Window)
	at := slices.Index(panes, target) + 1
	if x.has('b') {
		at--
	}
	if x.has('f') {
		at = len(panes)
		if x.has('b') {
			at = 0
		}
	}
	p.Order = at
	for i, o := range panes {
		want := i
		if i >= at {
			want++
		}
		if o.Order != want {
			o.Order = want
			if err := x.save(x.ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a pane's program.
func (x *command) start(p *pane, cols, rows int, dir string) error {
	if c := x.flag('c'); c != "" {
		if c = x.format(c, x.current()); c != "" {
			dir = c
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(x.Cwd, dir)
	}
	dir = x.orHome(dir)
	n := api.NewSession{
		Name: "tmux-" + strconv.Itoa(p.Pane), Cwd: dir, Cols: cols, Rows: rows,
		Env: slices.DeleteFunc(slices.Clone(x.Env), func(e string) bool {
			return strings.HasPrefix(e, "TMUX=") || strings.HasPrefix(e, "TMUX_PANE=")
		}),
	}
	again := len(x.args) == 0 && len(p.lastArgv) > 0
	switch {
	case again:
		n.Argv = p.lastArgv
	case len(x.args) == 1:
		n.Line = x.args[0]
	default:
		n.Argv = x.args
	}
	if !again { // else the pane has its words already
		p.Command = strings.Join(x.args, " ")
	}
	if len(p.Command) > 200 { // a label is short
		p.Command = strings.ToValidUTF8(p.Command[:200], "")
	}
	label, err := labelOf(p)
	if err != nil {
		return err
	}
	n.Labels = map[string]string{Label: label}
	given, gone := x.variableChanges(p)
	n.Env = slices.DeleteFunc(n.Env, func(e string) bool { name, _, _ := strings.Cut(e, "="); return slices.Contains(gone, name) })
	n.SetEnv = append(append(given, x.flags['e']...), fmt.Sprintf("TMUX=%s,%d,%d", x.socketPath(), x.daemonPID(), p.SessionID), fmt.Sprintf("TMUX_PANE=%%%d", p.Pane))
	s, err := x.daemon.NewSession(x.ctx, n)
	if err != nil && api.CodeNameTaken == codeOf(err) { // by the pane's previous program
		n.Name += "." + strconv.FormatInt(time.Now().UnixMilli(), 36)
		s, err = x.daemon.NewSession(x.ctx, n)
	}
	if err != nil {
		return fmt.Errorf("create pane failed: %w", err)
	}
	p.s = &s
	x.panes = append(x.panes, p)
	x.sort()
	return nil
}

// variableChanges returns the effect of set-environment on a pane: variables to set, and names of variables to unset.
func (x *command) variableChanges(p *pane) (set, gone []string) {
	all := x.environment("g")
	maps.Copy(all, x.environment("$"+strconv.Itoa(p.SessionID)))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == removed {
			gone = append(gone, name)
		} else {
			set = append(set, name+"="+all[name])
		}
	}
	return set, gone
}

// orHome returns dir if it exists. Otherwise it returns home, else the root, as tmux does since 3.4.
func (x *command) orHome(dir string) string {
	home := ""
	for _, e := range x.Env {
		if h, ok := strings.CutPrefix(e, "HOME="); ok {
			home = h
		}
	}
	for _, d := range []string{dir, home} {
		if st, err := os.Stat(d); err == nil && st.IsDir() {
			return d
		}
	}
	return "/"
}

// printNew implements -P.
func (x *command) printNew(p *pane, format string) {
	if !x.has('P') {
		return
	}
	if f := x.flag('F'); f != "" {
		format = f
	}
	fmt.Fprintln(x.Stdout, x.format(format, p))
}
