//go:build unix

// Package viewsource connects the viewer (render/view) to daemons. render/view knows no daemon, and this package draws
// nothing.
//
// source.go reads sessions and frames; history.go scrollback and commands; prompt.go and job.go run lines of the
// prompt; layouts.go stores layouts in files; options.go applies flags and configuration.
//
// The viewer's goroutine calls in. Slow work runs in the background. Each stream and each feed has one goroutine, which
// alone sends. Input for an unreachable daemon is queued in order and sent when it is back.
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
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// Program holds the parameters of the viewer.
type Program struct {
	Hosts         []Host
	Dirs          paths.Dirs
	Version       func() string
	Stdin         *os.File // command line that opens the viewer again, for the farewell
	ReopenCommand string   // the command line that comes back
}

// Host is a host whose sessions are shown.
type Host struct {
	Name   string // empty: this host
	Client *client.Client
}

// sources returns a source for the daemons of all hosts.
func (p Program) sources(o *Options) multiHostSource {
	all := make(multiHostSource, len(p.Hosts))
	shared := source{
		dirs: p.Dirs, version: p.Version, options: o, sizes: newSizeOption(o.settings.View.Size), mark: uuid.NewString(), orders: make(chan model.Order, 16),
	}
	for i, h := range p.Hosts {
		all[i] = shared
		all[i].c, all[i].host, all[i].reach = h.Client, h.Name, &reachability{}
		if len(all) > 1 {
			all[i].prefix = h.Name
		}
	}
	return all
}

// Run shows sessions on this terminal until the user leaves: those that only names by their ids (with the host
// before them, HOST/ID, where there are several), or all that run.
func Run(ctx context.Context, p Program, o *Options, only []string) error {
	src, kept := p.sources(o), layoutsOf(p.Dirs)
	more, leave := Tune()
	defer leave()
	for i := range src {
		src[i].useAllProcessors = more
	}
	kept.last = lastOf(p.Hosts)
	vo := view.Options{
		LiveOptions: o.initial, Changed: o.changed, Orders: src[0].orders, Only: only, Layout: o.layout(o.settings), History: src, SessionManager: src, Approver: src, Inbox: src, Drafts: src, Inspector: src, Historian: src,
		Editor:  editor{src, p.Stdin, o.settings.Editor.Command},
		OpenTTY: openTTY,
		Layouts: kept, Footer: newPromptLine(src),
	}
	if c := findClipboard(); c != nil {
		vo.Clipboard = c
	}
	var unsent strings.Builder
	vo.Unsent = func(session string, bytes int) { // the terminal is the viewer's still
		fmt.Fprintf(&unsent, "[not sent: %s typed into %s]\n", statusbar.Count(bytes, "byte"), canvas.Printable(session))
	}
	ctx, stop := ignoreInterrupts(ctx)
	defer stop()
	err := view.Run(ctx, src, vo)
	_, _ = io.WriteString(os.Stderr, unsent.String())
	if errors.Is(err, context.Canceled) {
		return signalStatus(ctx)
	}
	if err == nil {
		p.farewell(os.Stderr, only)
		err = signalStatus(ctx)
	}
	return err
}

// ignoreInterrupts returns a context that interrupts do not end. On the viewer's terminal Ctrl-C is a key; an interrupt
// that arrives anyway is meant for an editor that the viewer has started. A hangup ends the viewer like TERM, and the
// terminal is restored. The context's cause is the signal.
func ignoreInterrupts(ctx context.Context) (context.Context, func()) {
	passing := make(chan os.Signal, 1) // never read: receiving disables the default, which ends the process
	signal.Notify(passing, os.Interrupt)
	ending := slices.DeleteFunc(slices.Clone(takeover.TerminationSignals), func(s os.Signal) bool { return s == os.Interrupt || signal.Ignored(s) })
	told := make(chan os.Signal, 1)
	signal.Notify(told, ending...)
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		select {
		case sig := <-told:
			stop(signalError(sig.(syscall.Signal)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(told)
		signal.Stop(passing)
		stop(nil)
	}
}

// signalError is the error of a viewer that a signal ended.
type signalError syscall.Signal

func (s signalError) Error() string { return syscall.Signal(s).String() }

// signalStatus returns the error of a viewer that a signal ended, with the exit status of an attached client, or nil.
func signalStatus(ctx context.Context) error {
	var by signalError
	if !errors.As(context.Cause(ctx), &by) {
		return nil
	}
	return exit.With(128+int(by), fmt.Errorf("left: %w; sessions keep running", by))
}

// farewellTime limits the final request to the daemon.
const farewellTime = time.Second

// farewell prints which sessions, all or the selected ones, keep running, and how to return to them.
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
	case !known.Load(): // no daemon answered: the next command reports why
	case len(only) == 0:
		fmt.Fprintln(to, farewell(list, p.ReopenCommand))
	default:
		fmt.Fprintln(to, farewellTo(list, only, p.ReopenCommand))
	}
}

// farewellTo returns the farewell of a viewer with selected sessions, given by id.
func farewellTo(list []api.Session, only []string, reopen string) string {
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
	if reopen == "longterm" {
		reopen += " view"
	}
	back := "return with `" + reopen + " " + strings.Join(running, " ") + "`]"
	switch n := len(running); {
	case n == 0 && len(only) == 1 && end == "gone":
		return "[the session no longer exists; see `longterm ls`]"
	case n == 0 && len(only) == 1:
		return "[" + end + "]"
	case n == 0:
		return fmt.Sprintf("[all %d sessions have ended]", len(only))
	case n == 1:
		return "[" + running[0] + " keeps running; " + back
	default:
		return fmt.Sprintf("[%d sessions keep running; %s", n, back)
	}
}

func farewell(list []api.Session, reopen string) string {
	n := 0
	for i := range list {
		if list[i].State == "running" {
			n++
		}
	}
	switch n {
	case 0:
		return "[no session is running; start one with `longterm`]"
	case 1:
		return "[1 session keeps running; return with `" + reopen + "`, list it with `longterm ls`]"
	}
	return fmt.Sprintf("[%d sessions keep running; return with `%s`, list them with `longterm ls`]", n, reopen)
}

// endOf describes how a session ended.
func endOf(s *api.Session) string {
	switch {
	case s.Signal != "":
		return "ended by " + s.Signal
	case s.ExitCode != nil:
		return fmt.Sprintf("exited with %d", *s.ExitCode)
	}
	return s.State
}

// ShellHere returns a request for the user's shell in the current directory.
func ShellHere() (api.NewSession, error) {
	cwd, err := filepath.Abs("")
	return api.NewSession{Cwd: cwd, Env: os.Environ()}, err
}
