//go:build unix

// Package watchrun runs a command in a session, and again whenever files change: the loop of runs (loop.go), one
// run (run.go), what a run is shown on (view.go: a terminal, text, JSON) and what there is to say when it ended
// (report.go). What counts as a change, progress and errors is told by session/watch; flags and arguments are the
// verb's.
//
// The loop's goroutine owns everything; a run's output and end come to it by channels.
package watchrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/filewatch"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Options say what is watched, and how.
type Options struct {
	Command     string         // as people read it
	Request     api.NewSession // of each run
	Client      *client.Client
	Files       *filewatch.Tree
	Notify      notify.Options
	Terminal    *os.File // the person's keys; nil: output is printed as text, or as JSON
	Clear, Wait bool     // clear the terminal before each run; let a run finish before the next one begins
	Editor      places.Editor
	Host        string // where it runs; empty: here
	Runs        int    // how many; 0: until the person ends it
}

// Run runs the command, and again whenever files change. It returns the last run's session; nil: that run was ended.
func Run(ctx context.Context, p *output.Printer, o Options) (*api.Session, error) {
	v, err := newView(p, o.Terminal, o.Clear)
	if err != nil {
		return nil, err
	}
	w := &watching{Options: o, p: p, view: v}
	defer v.close()
	return w.loop(ctx)
}

// watching is a watch under way.
type watching struct {
	Options
	p    *output.Printer
	view view

	n      int // of the run, from 1
	before *diagnostics.Run
	took   []time.Duration // of runs that succeeded, newest first
	asked  []string        // what changed since the run began; empty: a person asked; nil: run no more
	brief  string          // how the last run ended
	places []places.Place  // its errors
	at     int             // the one that was opened last; -1: none
	quit   bool            // the person wants to leave
}

// loop runs the command again and again; it ends when the person or --runs says so.
func (w *watching) loop(ctx context.Context) (last *api.Session, err error) {
	var cause []string
	for {
		w.n++
		last, err = w.once(ctx, cause)
		if err != nil || ctx.Err() != nil || w.quit {
			return last, noInterrupt(err)
		}
		if w.Runs > 0 && w.n >= w.Runs {
			return last, nil
		}
		if cause, err = w.rest(ctx); err != nil || cause == nil {
			return last, noInterrupt(err)
		}
	}
}

// noInterrupt makes an interrupt what it is here: the usual way out.
func noInterrupt(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// rest waits for a reason to run again; nil: there will be none.
func (w *watching) rest(ctx context.Context) ([]string, error) {
	if w.asked != nil {
		cause := w.asked
		w.asked = nil
		return cause, nil
	}
	w.view.idle(w.brief)
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case paths := <-w.Files.Changes():
			return paths, nil
		case err := <-w.Files.Failed():
			return nil, err
		case k := <-w.view.keys():
			switch k {
			case keyQuit:
				return nil, nil
			case keyAgain:
				return []string{}, nil
			default:
				w.edit(ctx, k)
				w.view.idle(w.brief)
			}
		case <-w.view.resized():
			w.view.idle(w.brief)
		}
	}
}

// edit opens the editor at an error of the last run.
func (w *watching) edit(ctx context.Context, k key) {
	at := 0
	switch k {
	case keyNext:
		at = min(w.at+1, len(w.places)-1)
	case keyBefore:
		at = max(w.at-1, 0)
	}
	if len(w.places) == 0 {
		w.view.lend(func() error { return errors.New("no error has a place in a file") })
		return
	}
	w.at = at
	w.view.lend(func() error { return w.Editor.Open(ctx, &w.places[at]) })
}

// causeText says why a run began.
func causeText(cause []string) string {
	switch {
	case len(cause) == 0:
		return ""
	case len(cause) <= 3:
		return output.Printable(strings.Join(cause, ", ")) + " changed"
	}
	return fmt.Sprintf("%s and %d more files changed", output.Printable(cause[0]), len(cause)-1)
}
