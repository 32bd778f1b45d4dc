//go:build unix

// Package watchrun runs a command in a session, and again whenever files change: the loop of runs (loop.go), one run
// (run.go), its display (view.go: terminal, text, JSON) and the report at its end (report.go). Package session/watch
// detects changes, progress and errors; the verb parses flags and arguments.
//
// The loop's goroutine owns all state; a run's output and end reach it through channels.
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
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Options configure what is watched and run.
type Options struct {
	Command     string         // for display
	Request     api.NewSession // of each run
	Client      *client.Client
	Files       *filewatch.Tree
	Notify      notify.Options
	Terminal    *os.File // the user's terminal; nil prints output as text or JSON
	Clear, Wait bool     // clear the terminal before each run; let a run finish before the next one starts
	Editor      sourcepos.Editor
	Host        string // host that runs it; empty means the local one
	Runs        int    // number of runs; 0 means until the user quits
}

// Run runs the command, and again whenever files change. It returns the last run's session, or nil if that run was
// killed.
func Run(ctx context.Context, p *output.Printer, o Options) (*api.Session, error) {
	v, err := newView(p, o.Terminal, o.Clear)
	if err != nil {
		return nil, err
	}
	w := &watchLoop{Options: o, p: p, view: v}
	defer v.close()
	return w.loop(ctx)
}

// watchLoop is the state of one `watch` command.
type watchLoop struct {
	Options
	p    *output.Printer
	view view

	n              int               // number of the run, from 1
	previousRun    *diagnostics.Run  // the previous run
	durations      []time.Duration   // durations of successful runs, newest first
	pending        []string          // changed files since the run started; empty if the user requested a run; nil means no further run
	summary        string            // summary of the last run
	errorPositions []sourcepos.Place // its errors
	opened         int               // index of the last opened place; -1: none
	quit           bool              // the user wants to quit
}

// loop repeats the command until the user quits or --runs is reached.
func (w *watchLoop) loop(ctx context.Context) (last *api.Session, err error) {
	var cause []string
	for {
		w.n++
		last, err = w.runOnce(ctx, cause)
		if err != nil || ctx.Err() != nil || w.quit {
			return last, ignoreCanceled(err)
		}
		if w.Runs > 0 && w.n >= w.Runs {
			return last, nil
		}
		if cause, err = w.awaitTrigger(ctx); err != nil || cause == nil {
			return last, ignoreCanceled(err)
		}
	}
}

// ignoreCanceled returns nil for a canceled context: an interrupt is the usual way to quit.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// awaitTrigger waits for a reason to run again. It returns nil if the watch ends.
func (w *watchLoop) awaitTrigger(ctx context.Context) ([]string, error) {
	if w.pending != nil {
		cause := w.pending
		w.pending = nil
		return cause, nil
	}
	w.view.idle(w.summary)
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case paths := <-w.Files.Changes():
			return paths, nil
		case err := <-w.Files.Errors():
			return nil, err
		case k := <-w.view.keys():
			switch k {
			case keyQuit:
				return nil, nil
			case keyRerun:
				return []string{}, nil
			default:
				w.edit(ctx, k)
				w.view.idle(w.summary)
			}
		case <-w.view.resizeSignals():
			w.view.idle(w.summary)
		}
	}
}

// edit opens the editor at an error of the last run.
func (w *watchLoop) edit(ctx context.Context, k key) {
	at := 0
	switch k {
	case keyNext:
		at = min(w.opened+1, len(w.errorPositions)-1)
	case keyBefore:
		at = max(w.opened-1, 0)
	}
	if len(w.errorPositions) == 0 {
		w.view.lend(func() error { return errors.New("no error names a file") })
		return
	}
	w.opened = at
	w.view.lend(func() error { return w.Editor.Open(ctx, &w.errorPositions[at]) })
}

// causeText returns the reason for a run.
func causeText(cause []string) string {
	switch {
	case len(cause) == 0:
		return ""
	case len(cause) <= 3:
		return output.Printable(strings.Join(cause, ", ")) + " changed"
	}
	return fmt.Sprintf("%s and %d more files changed", output.Printable(cause[0]), len(cause)-1)
}
