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

// Label is the label of a session of longterm that is a pane.
const Label = "tmux"

// PipeLabel is the label of sessions that run a pipe, with the id of the session whose output they are given.
const PipeLabel = "longterm.pipe"

// place is where a pane is, as its label has it.
type place struct {
	Socket    string `json:"socket"`
	Session   string `json:"session"`
	SessionID int    `json:"session_id"`
	Created   int64  `json:"created"` // of the session
	Window    int    `json:"window_id"`
	Index     int    `json:"window"`
	Name      string `json:"name,omitempty"` // of the window; empty: what runs in it
	Cols      int    `json:"cols"`           // of the window
	Rows      int    `json:"rows"`
	Pane      int    `json:"pane_id"`
	Order     int    `json:"order"`           // among the window's panes
	PaneUsed  int    `json:"pane_used"`       // when it was selected, as a number that grows
	WinUsed   int    `json:"window_used"`     // when its window was
	Title     string `json:"title,omitempty"` // set by select-pane -T
	Command   string `json:"command,omitempty"`
}

// pane is a session of longterm as tmux has it.
type pane struct {
	place
	s   *api.Session
	ran []string // what ran in it before, to be started again where nothing else is asked for
}

// numbers are those that are given once.
type numbers struct {
	Session int `json:"session"`
	Window  int `json:"window"`
	Pane    int `json:"pane"`
	Used    int `json:"used"`
	// What the panes' labels do not have, by socket and what it is of.
	Layouts map[string]division `json:"layouts,omitempty"`
	Options map[string]string   `json:"options,omitempty"`
}

// locked runs one command at a time: agents start many at once.
func (c *call) locked(do func() error) error {
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

// read takes the panes that live from the daemon.
func (c *call) read(ctx context.Context) error {
	all, err := c.daemon.List(ctx)
	if err != nil {
		return err
	}
	c.panes, c.pipes, c.trees, c.file = nil, map[string]bool{}, map[int]*divided{}, nil
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

func (c *call) sort() {
	slices.SortFunc(c.panes, func(a, b *pane) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Order, b.Order), cmp.Compare(a.Pane, b.Pane))
	})
}

// kept reads the numbers, and what is kept with them; once between two changes.
func (c *call) kept() (numbers, error) {
	if c.file != nil {
		return *c.file, nil
	}
	n, err := c.readKept()
	if err == nil {
		c.file = &n
	}
	return n, err
}

func (c *call) readKept() (numbers, error) {
	n := numbers{Used: 1}
	b, err := os.ReadFile(c.Numbers)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return n, err
	case json.Unmarshal(b, &n) != nil:
		n = numbers{Used: 1}
	}
	return n, nil
}

// next gives numbers. A file that was lost is made again of what there is.
func (c *call) next(change func(*numbers)) (numbers, error) {
	n, err := c.readKept()
	if err != nil {
		return n, err
	}
	c.file = nil
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

// keep changes what is kept.
func (c *call) keep(change func(*numbers)) error {
	_, err := c.next(change)
	return err
}

// forget lets go of what is kept for a socket.
func (n *numbers) forget(socket string) {
	of := func(key string) bool { return strings.HasPrefix(key, socket+"/") }
	maps.DeleteFunc(n.Layouts, func(key string, _ division) bool { return of(key) })
	maps.DeleteFunc(n.Options, func(key, _ string) bool { return of(key) })
}

// used is the next number of use.
func (c *call) used() (int, error) {
	n, err := c.next(func(n *numbers) { n.Used++ })
	return n.Used, err
}

// save writes where a pane is.
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
	return c.where(func(p *pane) bool { return p.Session == name })
}

func (c *call) inWindow(id int) []*pane {
	return c.where(func(p *pane) bool { return p.Window == id })
}

func (c *call) where(is func(*pane) bool) (some []*pane) {
	for _, p := range c.panes {
		if is(p) {
			some = append(some, p)
		}
	}
	return some
}

// newest is the pane with the greatest number, the first of equals; nil of none.
func newest(panes []*pane, number func(*pane) int) (best *pane) {
	for _, p := range panes {
		if best == nil || number(p) > number(best) {
			best = p
		}
	}
	return best
}

// windowUsed is when a pane's window was selected last, by any of its panes.
func (c *call) windowUsed(p *pane) int {
	return newest(c.inWindow(p.Window), func(p *pane) int { return p.WinUsed }).WinUsed
}

// activeIn is the active pane of a window.
func activeIn(panes []*pane) *pane { return newest(panes, func(p *pane) int { return p.PaneUsed }) }

// activeOf is the active pane of a session's active window.
func (c *call) activeOf(session string) *pane {
	p := newest(c.inSession(session), c.windowUsed)
	if p == nil {
		return nil
	}
	return activeIn(c.inWindow(p.Window))
}

// windows are first panes of a session's windows.
func windows(panes []*pane) (firsts []*pane) {
	for _, p := range panes {
		if !slices.ContainsFunc(firsts, func(o *pane) bool { return o.Window == p.Window }) {
			firsts = append(firsts, p)
		}
	}
	return firsts
}

// sessions are first panes of all sessions.
func (c *call) sessions() (firsts []*pane) {
	for _, p := range c.panes {
		if len(firsts) == 0 || firsts[len(firsts)-1].Session != p.Session {
			firsts = append(firsts, p)
		}
	}
	return firsts
}

// piped says that a pane's output goes to a command.
func (c *call) piped(p *pane) bool { return c.pipes[p.s.ID] }

func now() int64 { return time.Now().Unix() }
