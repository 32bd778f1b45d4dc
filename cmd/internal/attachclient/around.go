//go:build unix

package attachclient

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/render/outer"
	"github.com/longterm-dev/longterm/vterm"
)

// around queries the terminal that a session is attached to, and removes its answers from typed input. The methods
// may be called on nil: the terminal was not queried.
type around struct {
	t      *termio.Terminal
	fence  outer.Fence
	onNews func(vterm.Outer)

	mu      sync.Mutex // guards the rest
	answers outer.Answers
	typed   []byte
	newest  vterm.Outer // that onNews has received
	leaving bool        // what is typed is dropped
}

// askAround queries a terminal before its keys are read. onNews receives the description once the terminal has answered, and each
// change of it, on the goroutine that reads the keys.
func askAround(t *termio.Terminal, onNews func(vterm.Outer)) *around {
	switch term := os.Getenv("TERM"); {
	case term == "", term == "linux", term == "dumb", strings.HasPrefix(term, "vt"): // they print queries
		return nil
	}
	a := &around{t: t, onNews: onNews}
	a.answers.SetWindow(t.Window())
	t.Hear = a.hear
	ask := outer.AskColours
	if os.Getenv("TMUX") != "" {
		ask = outer.AskColoursTmux + ask
	}
	a.ask(outer.Follow + ask + outer.AskKeys + outer.AskCell)
	return a
}

// ask writes queries, and the one that ends them.
func (a *around) ask(queries string) {
	queries += outer.Attributes
	a.fence.CountQueries([]byte(queries), time.Now())
	a.t.Ask(queries)
}

// hear returns what was typed of a read.
func (a *around) hear(p []byte) []byte {
	reported := bytes.Contains(p, []byte("\x1b[?997;"))
	a.mu.Lock()
	a.answers.Waiting = a.fence.Pending(time.Now())
	before := a.answers.Attributes
	a.typed = a.answers.Feed(a.typed[:0], p, nil)
	attributes, typed, leaving := a.answers.Attributes-before, a.typed, a.leaving
	a.mu.Unlock()
	if attributes > 0 {
		a.fence.CountAnswers(attributes)
	}
	if leaving {
		return nil
	}
	if reported { // the colours have changed, too
		a.ask(outer.AskColours)
	}
	a.publishNews()
	return typed
}

// publishNews calls onNews if the description has changed and the terminal has answered all queries.
func (a *around) publishNews() {
	if o, known := a.known(); known {
		a.mu.Lock()
		changed := o != a.newest
		a.newest = o
		a.mu.Unlock()
		if changed {
			a.onNews(o)
		}
	}
}

// known returns the description of the terminal, once it has answered all queries.
func (a *around) known() (o vterm.Outer, known bool) {
	if a == nil || a.fence.Pending(time.Now()) {
		return o, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers.Outer, a.answers.Attributes > 0
}

// readWindow reads the window's new size.
func (a *around) readWindow() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.answers.SetWindow(a.t.Window())
	a.mu.Unlock()
	a.publishNews()
}

// leave ends the terminal's reports and waits until it has answered all queries, so that no answer is typed into a shell. It
// drops what is typed, and what waits in keys.
func (a *around) leave(keys <-chan []byte) {
	if a == nil {
		return
	}
	limit := a.fence.Timeout(time.Now())
	if limit <= 0 {
		return
	}
	a.mu.Lock()
	a.leaving = true
	a.mu.Unlock()
	a.ask(outer.StopReports)
	closed, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(closed)
		for {
			select {
			case _, ok := <-keys:
				if !ok {
					return
				}
			case <-done:
				return
			}
		}
	}()
	a.fence.Wait(limit, closed)
	close(done)
}
