//go:build unix

// Package viewsource feeds the viewer (render/view) from a daemon: its sessions and their frames (source.go),
// scrollback and commands (history.go), what its prompt line runs (prompt.go, job.go), layouts in files, the
// clipboard, and how the person wants it (options.go). render/view knows no daemon; this package draws nothing.
//
// The viewer's goroutine calls in; what takes time runs beside it, and a stream or a feed has a goroutine of its
// own that alone sends. What is done while the daemon is away is kept, in order, and sent when it is back.
package viewsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// Program is what the viewer is given of the program it runs in.
type Program struct {
	Hosts   []Host
	Dirs    paths.Dirs
	Version func() string
	Stdin   *os.File
	Again   string // the command line that comes back
}

// Host is one whose sessions are shown.
type Host struct {
	Name   string // empty: this one
	Client *client.Client
}

// sources are the daemons of all hosts.
func (p Program) sources(o *Options) many {
	all := make(many, len(p.Hosts))
	shared := source{
		dirs: p.Dirs, version: p.Version, options: o, sizes: newSizeOption(o.settings.View.Size), mark: uuid.NewString(), orders: make(chan model.Order, 16),
	}
	for i, h := range p.Hosts {
		all[i] = shared
		all[i].c, all[i].at, all[i].reach = h.Client, h.Name, &reach{}
		if len(all) > 1 {
			all[i].shown = h.Name
		}
	}
	return all
}

// Run shows sessions on this terminal until the person leaves: those that only names by their ids (with the host
// before them, HOST/ID, where there are several), or all that run.
func Run(ctx context.Context, p Program, o *Options, only []string) error {
	src, kept := p.sources(o), layoutsOf(p.Dirs)
	more, leave := Tune()
	defer leave()
	for i := range src {
		src[i].more = more
	}
	kept.last = lastOf(p.Hosts)
	vo := view.Options{
		LiveOptions: o.begin, Changed: o.changed, Orders: src[0].orders, Only: only, Layout: o.layout(o.settings), History: src, Steward: src, Approver: src, Inspector: src, Historian: src,
		Editor:  editor{src, p.Stdin, o.settings.Editor.Command},
		OpenTTY: openTTY,
		Layouts: kept, Footer: newPromptLine(src),
	}
	if c := findClipboard(); c != nil {
		vo.Clipboard = c
	}
	var unsent strings.Builder
	vo.Unsent = func(session string, bytes int) { // the terminal is the viewer's still
		fmt.Fprintf(&unsent, "[not sent: %s typed into %s]\n", bars.Count(bytes, "byte"), canvas.Printable(session))
	}
	ctx, stop := uninterrupted(ctx)
	defer stop()
	err := view.Run(ctx, src, vo)
	_, _ = io.WriteString(os.Stderr, unsent.String())
	if errors.Is(err, context.Canceled) {
		return leftBy(ctx)
	}
	if err == nil {
		p.farewell(os.Stderr, only)
		err = leftBy(ctx)
	}
	return err
}

// uninterrupted has interrupts pass the viewer by. On its terminal Ctrl-C is a key; an interrupt that comes all the same
// is for the editor that was opened, which may go on after it. A hangup ends it as TERM does: it gives the terminal back. The
// context's cause is the signal.
func uninterrupted(ctx context.Context) (context.Context, func()) {
	passing := make(chan os.Signal, 1) // nobody reads it: it is taken from the default, which ends the process
	signal.Notify(passing, os.Interrupt)
	ending := slices.DeleteFunc(slices.Clone(takeover.Leaving), func(s os.Signal) bool { return s == os.Interrupt || signal.Ignored(s) })
	told := make(chan os.Signal, 1)
	signal.Notify(told, ending...)
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case sig := <-told:
			stop(endedBy(sig.(syscall.Signal)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(told)
		signal.Stop(passing)
		stop(nil)
	}
}

// endedBy is a signal that ended the viewer.
type endedBy syscall.Signal

func (s endedBy) Error() string { return syscall.Signal(s).String() }

// leftBy is the error of a viewer that a signal ended, with the status that an attached client has then; nil: it was none.
func leftBy(ctx context.Context) error {
	var by endedBy
	if !errors.As(context.Cause(ctx), &by) {
		return nil
	}
	return exit.With(128+int(by), fmt.Errorf("left: %w; the sessions go on", by))
}

// farewellTime is how long the daemon has to say what goes on.
const farewellTime = time.Second

// farewell says what goes on without the viewer, of all or of those it was to show, and how to come back.
func (p Program) farewell(to io.Writer, only []string) {
	ctx, cancel := context.WithTimeout(context.Background(), farewellTime)
	defer cancel()
	lists := make([][]api.Session, len(p.Hosts))
	var asked sync.WaitGroup
	var known atomic.Bool
	for i, h := range p.Hosts {
		asked.Go(func() {
			var err error
			if lists[i], err = h.Client.List(ctx); err == nil {
				known.Store(true)
			}
			if h.Name == "" || len(p.Hosts) == 1 {
				return
			}
			for k := range lists[i] { // as the viewer knows them
				s := &lists[i][k]
				s.ID, s.Name = h.Name+"/"+s.ID, h.Name+"/"+s.Name
			}
		})
	}
	asked.Wait()
	switch list := slices.Concat(lists...); {
	case !known.Load(): // whoever looks will be told
	case len(only) == 0:
		fmt.Fprintln(to, farewell(list, p.Again))
	default:
		fmt.Fprintln(to, farewellTo(list, only, p.Again))
	}
}

// farewellTo is the farewell of a viewer that was to show some sessions, known by their ids.
func farewellTo(list []api.Session, only []string, again string) string {
	var running []string
	end := "gone"
	for _, id := range only {
		i := slices.IndexFunc(list, func(s api.Session) bool { return s.ID == id })
		switch {
		case i < 0:
		case list[i].State == "running":
			running = append(running, list[i].Name)
		default:
			end = list[i].Name + " has ended: " + endOf(&list[i])
		}
	}
	if again == "longterm" {
		again += " view"
	}
	back := "`" + again + " " + strings.Join(running, " ") + "` comes back]"
	switch n := len(running); {
	case n == 0 && len(only) == 1 && end == "gone":
		return "[the session is gone; `longterm ls` lists those that are there]"
	case n == 0 && len(only) == 1:
		return "[" + end + "]"
	case n == 0:
		return fmt.Sprintf("[none of the %d sessions runs any more]", len(only))
	case n == 1:
		return "[" + running[0] + " goes on; " + back
	default:
		return fmt.Sprintf("[%d sessions go on; %s", n, back)
	}
}

func farewell(list []api.Session, again string) string {
	n := 0
	for i := range list {
		if list[i].State == "running" {
			n++
		}
	}
	switch n {
	case 0:
		return "[no session runs; `longterm` starts one]"
	case 1:
		return "[1 session goes on; `" + again + "` comes back, `longterm ls` lists it]"
	}
	return fmt.Sprintf("[%d sessions go on; `%s` comes back, `longterm ls` lists them]", n, again)
}

// endOf is how a session ended.
func endOf(s *api.Session) string {
	switch {
	case s.Signal != "":
		return "ended by " + s.Signal
	case s.ExitCode != nil:
		return fmt.Sprintf("exited with %d", *s.ExitCode)
	}
	return s.State
}

// ShellHere is the user's shell in the current directory.
func ShellHere() (api.NewSession, error) {
	cwd, err := filepath.Abs("")
	return api.NewSession{Cwd: cwd, Env: os.Environ()}, err
}
