package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Cmd is a program to start in a terminal inside this process: no daemon, no keeper, no
// files but, with Shell, a directory of scripts that Close removes.
type Cmd struct {
	Argv []string // the program and its arguments; looked up in PATH
	Path string   // the executable, where it is not what Argv[0] names
	Line string   // instead of Argv: a line for /bin/sh
	Dir  string   // start directory; the current one if empty
	// Env is the environment, as in os/exec. If nil, it is this process's, without the variables of this process's
	// terminal. TERM is xterm-256color unless Env sets it.
	Env        []string
	SetEnv     []string // added to that
	Cols, Rows int      // size of the terminal, in cells; default 80×24
	// Shell marks an interactive shell with integration, as required by Exec and CondCommand.
	Shell  bool
	Engine string // name of the emulator, see EngineNames; the default if empty
	// History bounds the memory for raw output, in bytes; older output is dropped. Default 16 MiB. The screen and its
	// scrollback need additional memory.
	History int64
	// Grace is how long each rung of Close's ladder has to work. Default 200 ms.
	Grace time.Duration
	// Settle is the pause after which an unfinished line counts for Expect if the kernel does not report that the
	// program waits for input. Default 20 ms.
	Settle time.Duration
	// Main is instead of Argv and Line: a function that is the program. It runs on no PTY,
	// so that a test in a testing/synctest bubble has time to itself.
	Main func(*Terminal) int
	Log  *slog.Logger // for internal errors; may be nil
}

const (
	defaultHistory    = 16 << 20
	defaultGrace      = 200 * time.Millisecond
	programScrollback = 10_000 // lines
	minHistory        = 1 << 20
)

// Program is a program in a terminal of this process. All methods may be called from any
// goroutine; one that waits ends when its context does, when the program's Start context
// does, or by Close.
//
// The session underneath (Session) is the daemon's, loop and all. Only its terminal is
// local, its ring is this process's memory and its journal is kept there as well.
type Program struct {
	s       *session.Session
	host    host
	keep    *retention
	watch   *session.Watch
	grace   time.Duration
	scripts string // directory of the shell integration, or ""
	left    string // what the shell leaves for the session, in memory
	unhook  func() bool

	following sync.WaitGroup
	close     sync.Once
	closed    error
	last      atomic.Pointer[Snapshot] // the screen when it was closed

	reading reading
}

// host is the process behind a Program and the terminal it runs on.
type host interface {
	session.Device
	// begin starts to pass output to the session, and reports its end.
	begin(s *session.Session)
	// idle reports that the program waits for input and that everything it printed before
	// is in the ring. Not known is false.
	idle() bool
	// echo reports whether the terminal, the program or neither shows input.
	echo() respond.EchoState
	signal(sig os.Signal) error
	// end ends the process tree, giving each rung of the ladder its time, and waits.
	end(grace time.Duration) error
}

// Start starts a program in a new terminal. When ctx ends, the program is ended as by Close; the caller must still call
// Close.
func Start(ctx context.Context, c Cmd) (*Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start a program: %w", err)
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Program{grace: c.Grace, reading: reading{x: respond.NewExpecter(c.Settle), change: make(chan struct{})}}
	p.reading.x.SetWidth(c.Cols)
	launch, err := p.integrate(&c)
	if err == nil {
		err = p.spawn(&c, launch)
	}
	if err != nil {
		return nil, errors.Join(err, p.removeScripts())
	}
	p.unhook = context.AfterFunc(ctx, p.shutdown)
	return p, nil
}

func (c Cmd) withDefaults() (Cmd, error) {
	c.Cols, c.Rows = cmp.Or(c.Cols, 80), cmp.Or(c.Rows, 24)
	c.History = max(cmp.Or(c.History, defaultHistory), minHistory)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	ways := 0
	for _, given := range []bool{len(c.Argv) > 0, c.Line != "", c.Main != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return c, errors.New("start a program: one of Argv, Line and Main must be set")
	case !vterm.ValidSize(c.Cols, c.Rows):
		return c, fmt.Errorf("start a program: size %d×%d: columns must be %d to %d, rows %d to %d",
			c.Cols, c.Rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	case !slices.Contains(session.EngineNames(), cmp.Or(c.Engine, session.DefaultEngine)): // before there is a process
		_, err := session.NewEngine(c.Engine, vterm.Options{})
		return c, fmt.Errorf("start a program: %w", err)
	case c.Shell && len(c.Argv) == 0:
		return c, errors.New("start a program: Shell needs Argv, the shell and its arguments")
	case c.Line != "":
		c.Argv = []string{"/bin/sh", "-c", c.Line}
	}
	c.Env = append(programEnv(c.Env), c.SetEnv...)
	return c, nil
}

// programEnv returns a program's environment, without the variables that describe this process's own terminal.
func programEnv(env []string) []string {
	var out []string
	term := false
	inherit := env == nil
	if inherit {
		env = os.Environ()
	}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case !inherit:
			term = term || name == "TERM"
		case name == "TERM", name == "COLUMNS", name == "LINES", name == "TMUX", name == "TMUX_PANE", name == "STY",
			name == "LONGTERM_SESSION", name == programMark:
			continue
		}
		out = append(out, kv)
	}
	if !term {
		out = append(out, "TERM=xterm-256color")
	}
	return out
}

// programMark names the program in the environment of everything it starts, so that Close
// finds what moved itself out of reach.
const programMark = "LONGTERM_PROGRAM"

// integrate sets up the shell integration.
func (p *Program) integrate(c *Cmd) (*shell.Launch, error) {
	if !c.Shell {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "longterm-shell-")
	if err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	p.scripts = dir
	if p.left, err = shell.MemoryDir(dir); err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	l, err := shell.Prepare(shell.Setup{Argv: c.Argv, Env: c.Env, Cwd: c.Dir, Dir: dir, State: p.left})
	if err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	if l.Quality == shell.None {
		return nil, fmt.Errorf("start a shell: %w: %s", session.ErrNoShell, l.Reason)
	}
	c.Argv, c.Env = l.Argv, l.Env
	return &l, nil
}

// spawn starts the process and everything that serves it.
func (p *Program) spawn(c *Cmd, l *shell.Launch) error {
	id := uuid.NewString()
	c.Env = append(c.Env, programMark+"="+id)
	r := ring.Local(ring.DefaultSize)
	j, _, err := journal.Open("journal", journal.Options{FS: newMemory(), Plain: true, SegmentBytes: c.History / historyParts})
	if err != nil {
		return fmt.Errorf("start a program: %w", err)
	}
	keep := newRetention(j, c.History)
	p.keep = keep
	var h host
	var pid int
	if c.Main != nil {
		h = newLineHost(c, r, keep)
	} else if h, pid, err = newHost(c, id, r, keep); err != nil {
		return errors.Join(err, j.Close())
	}
	p.host = h
	p.s, err = session.New(session.Config{ // fails for an unknown engine only
		ID: id, Device: h, Ring: r, Journal: j, Engine: c.Engine, Shell: l, Log: c.Log,
		Options: vterm.Options{Cols: c.Cols, Rows: c.Rows, ScrollbackLines: programScrollback},
		Status:  session.Status{State: session.Running, PID: pid, Cols: c.Cols, Rows: c.Rows, Started: time.Now()},
	})
	if err != nil {
		return errors.Join(err, j.Close())
	}
	p.watch = p.s.Watch()
	h.begin(p.s)
	p.following.Go(p.follow)
	return nil
}

// Session returns the underlying session: frames, watches, time travel.
func (p *Program) Session() *session.Session { return p.s }

// Close ends the program and all processes that it started: first by SIGHUP, as from a closing terminal, then by
// SIGTERM, then by SIGKILL. It returns once all of them have ended; only Screen is valid then. Later calls wait for the
// first and return the same error.
func (p *Program) Close() error {
	p.unhook()
	p.shutdown()
	return p.closed
}

func (p *Program) shutdown() {
	p.close.Do(func() {
		p.closed = p.host.end(p.grace)
		last := p.Screen()
		p.last.Store(&last)
		p.s.Stop()
		p.following.Wait()
		p.watch.Close()
		p.closed = errors.Join(p.closed, p.removeScripts())
	})
}

func (p *Program) removeScripts() error {
	if p.scripts == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(p.scripts), shell.RemoveMemoryDir(p.left))
}

// Wait waits for the program's end. What it left running in the background is not waited
// for; Close ends that.
func (p *Program) Wait(ctx context.Context) (session.Exit, error) {
	w, err := p.WaitFor(ctx, session.Cond{Kind: session.CondExit})
	if err != nil {
		return session.Exit{}, fmt.Errorf("waiting for the program's end: %w", err)
	}
	if w.Status.Exit == nil {
		return session.Exit{}, session.ErrStopped
	}
	return *w.Status.Exit, nil
}

// WaitFor waits until any of the conditions holds. Text counts from when something was last
// typed.
func (p *Program) WaitFor(ctx context.Context, conds ...session.Cond) (session.Waited, error) {
	w, err := p.s.Wait(ctx, session.WaitFor{Conds: conds})
	if err == nil && len(w.Fired) == 0 {
		err = session.ErrStopped
	}
	return w, err
}

// WaitQuiet waits until nothing new was printed for d; a spinner that turns is not new.
func (p *Program) WaitQuiet(ctx context.Context, d time.Duration) error {
	_, err := p.WaitFor(ctx, session.Cond{Kind: session.CondQuiet, Quiet: d})
	return err
}

// Snapshot is a screen at one moment.
type Snapshot struct{ render.Screen }

// Text returns the screen's rows without trailing blanks, and without trailing empty rows.
func (s *Snapshot) Text() string { return string(render.Text(nil, &s.Screen, render.TextOptions{})) }

// Screen returns the terminal's current screen, or the last one before it was closed.
func (p *Program) Screen() Snapshot {
	var f vterm.Frame
	var s Snapshot
	if p.s.Frame(context.Background(), &f, vterm.Query{}) == nil {
		render.FromFrame(&s.Screen, &f)
	} else if last := p.last.Load(); last != nil {
		s = *last
	}
	return s
}

// Output reads raw output from an offset: see Session.Output.
func (p *Program) Output(from uint64, buf []byte) (session.Chunk, error) {
	return p.s.Output(from, buf)
}

// Resize changes the terminal's size, in cells, and signals the program.
func (p *Program) Resize(cols, rows int) error {
	if err := p.s.Resize(context.Background(), cols, rows); err != nil {
		return err
	}
	p.reading.mu.Lock()
	defer p.reading.mu.Unlock()
	p.reading.x.SetWidth(cols)
	return nil
}

// Signal sends a signal to what runs in the terminal's foreground.
func (p *Program) Signal(sig os.Signal) error { return p.host.signal(sig) }

// wake wakes the receiver of c, a channel with room for one value.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
