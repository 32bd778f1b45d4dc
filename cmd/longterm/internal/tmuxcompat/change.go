//go:build unix

package tmuxcompat

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

func labelOf(p *pane) (string, error) {
	b, err := json.Marshal(p.place)
	return string(b), err
}

// codeOf is the code of what the daemon answered.
func codeOf(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// kill ends panes, all at once. One that has ended is as wished.
func (x *command) kill(panes []*pane) error {
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
	if err := x.kill(panes); err != nil {
		return err
	}
	if left := x.inWindow(p.Window); len(left) == 1 {
		return x.resize(left[0], p.Cols, p.Rows)
	}
	return nil
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
		return x.kill(x.where(func(p *pane) bool { return p.Session != name }))
	}
	return x.kill(x.inSession(name))
}

func killServer(x *command) error { return x.kill(slices.Clone(x.panes)) }

// attach is attach-session: the panes of the active window in the viewer.
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
	switch here := slices.Index(panes, p); {
	case x.has('T'):
		p.Title = x.format(x.flag('T'), p)
		return x.save(x.ctx, p)
	case x.has('P') || x.has('m') || x.has('M') || x.has('d') || x.has('e'):
		return nil // looks, marks and locks are tmux's own
	case x.has('l'):
		if p = paneIn(panes, "!"); p == nil {
			return fail("no last pane")
		}
	case x.has('L') || x.has('U'):
		p = panes[(here+len(panes)-1)%len(panes)]
	case x.has('R') || x.has('D'):
		p = panes[(here+1)%len(panes)]
	}
	if p.PaneUsed, err = x.used(); err != nil {
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
	used, err := x.used()
	if err != nil {
		return err
	}
	return x.show(panes, used)
}

// show has a window be its session's active one. All of its panes know it: any of them may go.
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

var errInvalid = errors.New("invalid")

// length is a size in cells or in percent of the window.
func length(text string, whole int) (int, error) {
	if bare, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.Atoi(bare)
		if err != nil || n < 0 || n > 100 {
			return 0, errInvalid
		}
		return whole * n / 100, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, errInvalid
	}
	return min(n, whole), nil
}

// resizePane is resize-pane. Its neighbours keep their sizes: panes are no cells of one screen here.
func resizePane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	cols, rows := p.s.Cols, p.s.Rows
	if x.has('x') {
		if cols, err = length(x.flag('x'), p.Cols); err != nil {
			return fail("width %v", err)
		}
	}
	if x.has('y') {
		if rows, err = length(x.flag('y'), p.Rows); err != nil {
			return fail("height %v", err)
		}
	}
	by := 1
	if len(x.args) > 0 {
		if by, err = strconv.Atoi(x.args[0]); err != nil {
			return fail("adjustment invalid")
		}
	}
	switch {
	case x.has('L'):
		cols -= by
	case x.has('R'):
		cols += by
	case x.has('U'):
		rows -= by
	case x.has('D'):
		rows += by
	}
	return x.resize(p, min(cols, p.Cols), min(rows, p.Rows))
}

func resizeWindow(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	cols, err := size(x.flag('x'), panes[0].Cols)
	if err != nil {
		return fail("width %v", err)
	}
	rows, err := size(x.flag('y'), panes[0].Rows)
	if err != nil {
		return fail("height %v", err)
	}
	for _, p := range panes {
		p.Cols, p.Rows = cols, rows
		if err := x.save(x.ctx, p); err != nil {
			return err
		}
	}
	if len(panes) == 1 {
		return x.resize(panes[0], cols, rows)
	}
	return nil
}

// selectLayout is select-layout: sizes as the named layouts give them.
func selectLayout(x *command) error {
	panes, err := x.window(x.flag('t'))
	if err != nil {
		return err
	}
	if len(x.args) == 0 {
		return nil
	}
	sizes, ok := arrange(x.args[0], len(panes), panes[0].Cols, panes[0].Rows)
	if !ok {
		if strings.Contains(x.args[0], ",") {
			return nil // one that was saved: sizes stay
		}
		return fail("can't set layout: %s", x.args[0])
	}
	for i, p := range panes {
		if err := x.resize(p, sizes[i][0], sizes[i][1]); err != nil {
			return err
		}
	}
	return nil
}

// arrange is the sizes of n panes in a window, by a layout's name or what it begins with. One cell stands between two.
func arrange(layout string, n, cols, rows int) ([][2]int, bool) {
	name := ""
	for _, known := range []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"} {
		if strings.HasPrefix(known, layout) {
			name = cmp.Or(name, known)
		}
	}
	sizes := make([][2]int, n)
	switch {
	case name == "":
		return nil, false
	case n == 1:
		sizes[0] = [2]int{cols, rows}
	case name == "even-horizontal":
		for i, w := range shares(cols, n) {
			sizes[i] = [2]int{w, rows}
		}
	case name == "even-vertical":
		for i, h := range shares(rows, n) {
			sizes[i] = [2]int{cols, h}
		}
	case name == "main-horizontal": // main-pane-height is 24, with one row left at least
		main := min(24, rows-2)
		sizes[0] = [2]int{cols, main}
		for i, w := range shares(cols, n-1) {
			sizes[i+1] = [2]int{w, rows - main - 1}
		}
	case name == "main-vertical": // main-pane-width is 80
		main := min(80, cols-2)
		sizes[0] = [2]int{main, rows}
		for i, h := range shares(rows, n-1) {
			sizes[i+1] = [2]int{cols - main - 1, h}
		}
	default:
		down, across := 1, 1
		for down*across < n {
			if down++; down*across < n {
				across++
			}
		}
		heights := shares(rows, down)
		for i := range sizes {
			r := i / across
			widths := shares(cols, across)
			w := widths[i%across]
			if i == n-1 { // the last one has the rest of its row
				for _, more := range widths[i%across+1:] {
					w += more + 1
				}
			}
			sizes[i] = [2]int{w, heights[r]}
		}
	}
	return sizes, true
}

// shares cuts cells into n parts with one cell between two; the last has what is over.
func shares(cells, n int) []int {
	all := make([]int, n)
	each := max(1, (cells-(n-1))/n)
	for i := range all {
		all[i] = each
	}
	all[n-1] = max(1, cells-(n-1)*(each+1))
	return all
}

// setOption is set-option: what is about looks is accepted, and so is what is as wished.
func setOption(x *command) error {
	if len(x.args) == 0 {
		return fail("command %s: too few arguments (need at least 1)", x.name)
	}
	if t := x.flag('t'); t != "" && !x.has('g') {
		if _, err := x.pane(t); err != nil {
			return err
		}
	}
	return nil
}
