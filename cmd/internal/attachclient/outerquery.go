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

// outerQuery queries the terminal that a session is attached to, and removes its answers from typed input. A nil outerQuery stands
// for a terminal that is not queried: methods of it that other files call do nothing.
type outerQuery struct {
	t        *termio.Terminal
	fence    outer.Fence       // marks the end of the terminal's answers
	onChange func(vterm.Outer) // called with each new description of the terminal

	mu      sync.Mutex // guards the rest
	answers outer.Answers
	typed   []byte      // scratch buffer for input without answers
	newest  vterm.Outer // the value that onChange received last
	leaving bool        // the client leaves: all input is dropped
}

// queryTerminal queries a terminal before its keys are read. onChange receives the description once the terminal has answered, and
// each change of it, on the goroutine that reads the keys.
func queryTerminal(t *termio.Terminal, onChange func(vterm.Outer)) *outerQuery {
	switch term := os.Getenv("TERM"); {
	case term == "", term == "linux", term == "dumb", strings.HasPrefix(term, "vt"): // these print queries as text
		return nil
	}
	q := &outerQuery{t: t, onChange: onChange}
	q.answers.SetWindow(t.Window())
	t.FilterInput = q.filterAnswers
	ask := outer.AskColors
	if os.Getenv("TMUX") != "" {
		ask = outer.AskColorsTmux + ask
	}
	q.ask(outer.EnableSchemeReports + ask + outer.AskKeys + outer.AskCell)
	return q
}

// ask writes queries, followed by the query of device attributes whose answer marks the end.
func (q *outerQuery) ask(queries string) {
	queries += outer.Attributes
	q.fence.CountQueries([]byte(queries), time.Now())
	q.t.Query(queries)
}

// filterAnswers removes the terminal's answers from input and returns the typed rest.
func (q *outerQuery) filterAnswers(p []byte) []byte {
	reported := bytes.Contains(p, []byte("\x1b[?997;"))
	q.mu.Lock()
	q.answers.Waiting = q.fence.Pending(time.Now())
	before := q.answers.Attributes
	q.typed = q.answers.Feed(q.typed[:0], p, nil)
	attributes, typed, leaving := q.answers.Attributes-before, q.typed, q.leaving
	q.mu.Unlock()
	if attributes > 0 {
		q.fence.CountAnswers(attributes)
	}
	if leaving {
		return nil
	}
	if reported { // the colours have changed, too
		q.ask(outer.AskColors)
	}
	q.publishChange()
	return typed
}

// publishChange calls onChange if the description has changed and the terminal has answered all queries.
func (q *outerQuery) publishChange() {
	if o, known := q.description(); known {
		q.mu.Lock()
		changed := o != q.newest
		q.newest = o
		q.mu.Unlock()
		if changed {
			q.onChange(o)
		}
	}
}

// description returns the description of the terminal. complete is false until the terminal has answered all queries.
func (q *outerQuery) description() (o vterm.Outer, complete bool) {
	if q == nil || q.fence.Pending(time.Now()) {
		return o, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answers.Outer, q.answers.Attributes > 0
}

// readWindow updates the pixels of a cell after the window's size has changed.
func (q *outerQuery) readWindow() {
	if q == nil {
		return
	}
	q.mu.Lock()
	q.answers.SetWindow(q.t.Window())
	q.mu.Unlock()
	q.publishChange()
}

// leave ends the terminal's reports and waits until it has answered all queries, so that no answer is typed into a shell. It
// drops all keys, also those in the channel.
func (q *outerQuery) leave(keys <-chan []byte) {
	if q == nil {
		return
	}
	limit := q.fence.Timeout(time.Now())
	if limit <= 0 {
		return
	}
	q.mu.Lock()
	q.leaving = true
	q.mu.Unlock()
	q.ask(outer.StopReports)
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
	q.fence.Wait(limit, closed)
	close(done)
}
