//go:build unix

package tmuxcompat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Label is the session label that makes a session a pane. Its value is a place in JSON.
const Label = "tmux"

// PipeLabel is the label of a session that runs a pipe. Its value is the id of the session whose output is piped.
const PipeLabel = "longterm.pipe"

// place is the position of a pane in tmux's hierarchy of sessions and windows. It is stored in the session's label.
type place struct {
	Socket    string `json:"socket"` // name of the tmux server's socket
	Session   string `json:"session"`
	SessionID int    `json:"session_id"`
	Created   int64  `json:"created"`        // creation time of the tmux session
	Window    int    `json:"window_id"`      // number of the window
	Index     int    `json:"window"`         // index of the window in its session
	Name      string `json:"name,omitempty"` // name of the window; empty: the running program
	Cols      int    `json:"cols"`           // width of the window
	Rows      int    `json:"rows"`
	Pane      int    `json:"pane_id"`
	Order     int    `json:"order"`             // order among the window's panes
	PaneUsed  int    `json:"pane_used"`         // increasing number of the pane's last selection
	WinUsed   int    `json:"window_used"`       // increasing number of the window's last selection
	Title     string `json:"title,omitempty"`   // set by select-pane -T
	Command   string `json:"command,omitempty"` // the pane's command line
}

// pane is a session of longterm as a tmux pane.
type pane struct {
	place
	s        *api.Session
	lastArgv []string // argv of the previous program, which respawn-pane runs again without a command
}

// serverState is the content of the state file: the last used session, window and pane numbers, which are never reused, and
// state that does not fit into labels.
type serverState struct {
	Session int `json:"session"`
	Window  int `json:"window"`
	Pane    int `json:"pane"`
	Used    int `json:"used"` // last number of a selection
	// Layouts and Options are keyed by socket, kind and number.
	Layouts map[string]division `json:"layouts,omitempty"`
	Options map[string]string   `json:"options,omitempty"` // values of tmux options
}

// withLock runs one command at a time: agents start many at once.
func (c *call) withLock(do func() error) error {
	f, err := os.OpenFile(c.Numbers+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return do()
}

// read reads the live panes from the daemon.
func (c *call) read(ctx context.Context) error {
	all, err := c.daemon.List(ctx)
	if err != nil {
		return err
	}
	c.panes, c.pipes, c.trees, c.state = nil, map[string]bool{}, map[int]*windowSplit{}, nil
	for i := range all {
		s := &all[i]
		if of := s.Labels[PipeLabel]; of != "" && s.State == "running" {
			c.pipes[of] = true
		}
		p := &pane{s: s}
		label, ok := s.Labels[Label]
		if !ok || s.State != "running" || json.Unmarshal([]byte(label), &p.place) != nil || p.Socket != c.socket {
			continue
		}
		c.panes = append(c.panes, p)
	}
	c.sort()
	return nil
}

// sort orders the panes by session, window and position.
func (c *call) sort() {
	slices.SortFunc(c.panes, func(a, b *pane) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Pane, b.Pane))
	})
}

// readState reads the state file.
func (c *call) readState() (serverState, error) {
	if c.state != nil {
		return *c.state, nil
	}
	n, err := c.loadState()
	if err == nil {
		c.state = &n
	}
	return n, err
}

// loadState reads the state file, or returns its empty state.
func (c *call) loadState() (serverState, error) {
	n := serverState{Used: 1}
	b, err := os.ReadFile(c.Numbers)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return n, err
	case json.Unmarshal(b, &n) != nil:
		n = serverState{Used: 1}
	}
	return n, nil
}

// updateState changes the state file. A lost file is rebuilt from the existing panes.
func (c *call) updateState(change func(*serverState)) (serverState, error) {
	n, err := c.loadState()
	if err != nil {
		return n, err
	}
	c.state = nil
	if len(c.panes) == 0 { // a server that starts knows nothing of the one before
		n.forget(c.socket)
	}
	for _, p := range c.panes {
		n.Session, n.Window = max(n.Session, p.SessionID+1), max(n.Window, p.Window+1)
		n.Pane, n.Used = max(n.Pane, p.Pane+1), max(n.Used, p.PaneUsed+1, p.WinUsed+1)
	}
	given := n
	change(&n)
	b, err := json.Marshal(n)
	if err != nil {
		return given, err
	}
	return given, atomicfile.Write(c.Numbers, atomicfile.Options{}, b, []byte("\n"))
}

// saveState changes the state file without a new number.
func (c *call) saveState(change func(*serverState)) error {
	_, err := c.updateState(change)
	return err
}

// forget removes everything stored for a socket.
func (n *serverState) forget(socket string) {
	of := func(key string) bool { return strings.HasPrefix(key, socket+"/") }
	maps.DeleteFunc(n.Layouts, func(key string, _ division) bool { return of(key) })
	maps.DeleteFunc(n.Options, func(key, _ string) bool { return of(key) })
}

// nextUse returns the next number for recency of use.
func (c *call) nextUse() (int, error) {
	n, err := c.updateState(func(n *serverState) { n.Used++ })
	return n.Used, err
}

// save writes a pane's place into its label.
func (c *call) save(ctx context.Context, p *pane) error {
	b, err := json.Marshal(p.place)
	if err != nil {
		return err
	}
	_, err = c.daemon.Session(p.s.ID).Edit(ctx, api.Edit{Labels: map[string]string{Label: string(b)}})
	if err == nil && p.s.Labels != nil {
		p.s.Labels[Label] = string(b)
	}
	return err
}

func (c *call) socketPath() string { return filepath.Join(c.RunDir, "tmux-"+c.socket) }

// In these, panes are those of one session or window, in order.

func (c *call) inSession(name string) []*pane {
	return c.filter(func(p *pane) bool { return p.Session == name })
}

func (c *call) inWindow(id int) []*pane {
	return c.filter(func(p *pane) bool { return p.Window == id })
}

// filter returns the panes for which match returns true.
func (c *call) filter(match func(*pane) bool) (some []*pane) {
	for _, p := range c.panes {
		if match(p) {
			some = append(some, p)
		}
	}
	return some
}

// newest returns the pane with the greatest number, the first of equals, or nil for no panes.
func newest(panes []*pane, number func(*pane) int) (best *pane) {
	for _, p := range panes {
		if best == nil || number(p) > number(best) {
			best = p
		}
	}
	return best
}

// windowUsed returns when a pane's window was last selected, through any of its panes.
func (c *call) windowUsed(p *pane) int {
	return newest(c.inWindow(p.Window), func(p *pane) int { return p.WinUsed }).WinUsed
}

// activeIn returns the active pane of a window.
func activeIn(panes []*pane) *pane { return newest(panes, func(p *pane) int { return p.PaneUsed }) }

// activeOf returns the active pane of a session's active window.
func (c *call) activeOf(session string) *pane {
	p := newest(c.inSession(session), c.windowUsed)
	if p == nil {
		return nil
	}
	return activeIn(c.inWindow(p.Window))
}

// windows returns the first pane of each window.
func windows(panes []*pane) (firsts []*pane) {
	for _, p := range panes {
		if !slices.ContainsFunc(firsts, func(o *pane) bool { return o.Window == p.Window }) {
			firsts = append(firsts, p)
		}
	}
	return firsts
}

// sessions returns the first pane of each session.
func (c *call) sessions() (firsts []*pane) {
	for _, p := range c.panes {
		if len(firsts) == 0 || firsts[len(firsts)-1].Session != p.Session {
			firsts = append(firsts, p)
		}
	}
	return firsts
}

// isPiped reports whether a pane's output is piped into a command.
func (c *call) isPiped(p *pane) bool { return c.pipes[p.s.ID] }

func now() int64 { return time.Now().Unix() }
