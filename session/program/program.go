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

// Cmd describes a program to start in a terminal inside this process: no daemon, no keeper, and no files except, with
// Shell, a directory of scripts that Close removes.
type Cmd struct {
	Argv []string // the program and its arguments; Argv[0] is searched in PATH
	Path string   // the executable, if Argv[0] does not name it
	Line string   // a line for /bin/sh, instead of Argv
	Dir  string   // start directory; the current one if empty
	// Env is the environment, as in os/exec. If nil, it is this process's, without the variables of this process's
	// terminal. TERM is xterm-256color unless Env sets it.
	Env        []string
	SetEnv     []string // added to the environment
	Cols, Rows int      // size of the terminal, in cells; default 80×24
	// Shell marks an interactive shell with integration, as required by Exec and CondCommand.
	Shell  bool
	Engine string // name of the emulator, see EngineNames; the default if empty
	// History bounds the memory for raw output, in bytes; older output is dropped. Default 16 MiB. The screen and its
	// scrollback need additional memory.
	History int64
	// Grace is the time between the steps of Close's kill ladder. Default 200 ms.
	Grace time.Duration
	// Settle is the pause after which Expect matches an unfinished line if the kernel does not report that the program
	// waits for input. Default 20 ms.
	Settle time.Duration
	// Main is a function that is the program, instead of Argv and Line. It runs without a PTY, so that a test in a
	// testing/synctest bubble controls its time.
	Main func(*Terminal) int
	Log  *slog.Logger // for internal errors; may be nil
}

const (
	defaultHistory    = 16 << 20
	defaultGrace      = 200 * time.Millisecond
	programScrollback = 10_000 // lines
	minHistory        = 1 << 20
)

// Program is a program in a terminal of this process. Its methods are safe for concurrent use. A wait ends when its
// context ends, when the context of Start ends, or by Close.
//
// The session (Session) is the same as the daemon's, with its owner loop. Only its terminal is local, and its ring and
// journal are in this process's memory.
type Program struct {
	session       *session.Session
	host          host
	retention     *retention
	watch         *session.Watch // reports new output and the session's end
	grace         time.Duration
	scripts       string      // directory of the shell integration, or ""
	shellStateDir string      // directory in memory for the shell's state, or ""
	stopAfterFunc func() bool // cancels shutdown at the end of Start's context

	feeding     sync.WaitGroup // the goroutine of feedOutput
	closeOnce   sync.Once
	closeErr    error                    // result of shutdown
	finalScreen atomic.Pointer[Snapshot] // screen at shutdown

	expectReader expectReader
}

// host is the process of a Program with its terminal.
type host interface {
	session.Device
	// start starts to pass output to the session, and reports the end of the program to it.
	start(s *session.Session)
	// isIdle reports whether the program waits for input and all its earlier output is in the ring. It returns false if
	// unknown.
	isIdle() bool
	// echoState returns whether the terminal, the program or neither echoes input.
	echoState() respond.EchoState
	// signal sends a signal to the foreground process group.
	signal(sig os.Signal) error
	// terminate ends the process tree by the kill ladder, with grace between its steps, and waits.
	terminate(grace time.Duration) error
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
	p := &Program{grace: c.Grace, expectReader: expectReader{expecter: respond.NewExpecter(c.Settle), changed: make(chan struct{})}}
	p.expectReader.expecter.SetWidth(c.Cols)
	launch, err := p.prepareShell(&c)
	if err == nil {
		err = p.spawn(&c, launch)
	}
	if err != nil {
		return nil, errors.Join(err, p.removeScripts())
	}
	p.stopAfterFunc = context.AfterFunc(ctx, p.shutdown)
	return p, nil
}

// withDefaults checks the fields and sets defaults.
func (c Cmd) withDefaults() (Cmd, error) {
	c.Cols, c.Rows = cmp.Or(c.Cols, 80), cmp.Or(c.Rows, 24)
	c.History = max(cmp.Or(c.History, defaultHistory), minHistory)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	programs := 0
	for _, isSet := range []bool{len(c.Argv) > 0, c.Line != "", c.Main != nil} {
		if isSet {
			programs++
		}
	}
	switch {
	case programs != 1:
		return c, errors.New("start a program: one of Argv, Line and Main must be set")
	case !vterm.ValidSize(c.Cols, c.Rows):
		return c, fmt.Errorf("start a program: size %d×%d: columns must be %d to %d, rows %d to %d",
			c.Cols, c.Rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	case !slices.Contains(session.EngineNames(), cmp.Or(c.Engine, session.DefaultEngine)): // before a process is started
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
			name == "LONGTERM_SESSION", name == programEnvVar:
			continue
		}
		out = append(out, kv)
	}
	if !term {
		out = append(out, "TERM=xterm-256color")
	}
	return out
}

// programEnvVar is an environment variable with the program's id. All processes that it starts inherit it, so that
// Close finds those that left its process group and session.
const programEnvVar = "LONGTERM_PROGRAM"

// prepareShell prepares the shell integration, if Cmd.Shell is set.
func (p *Program) prepareShell(c *Cmd) (*shell.Launch, error) {
	if !c.Shell {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "longterm-shell-")
	if err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	p.scripts = dir
	if p.shellStateDir, err = shell.MemoryDir(dir); err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	l, err := shell.Prepare(shell.Setup{Argv: c.Argv, Env: c.Env, Cwd: c.Dir, Dir: dir, StateDir: p.shellStateDir})
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
	c.Env = append(c.Env, programEnvVar+"="+id)
	r := ring.Local(ring.DefaultSize)
	j, _, err := journal.Open("journal", journal.Options{FS: newMemoryFS(), Plain: true, SegmentBytes: c.History / historySegments})
	if err != nil {
		return fmt.Errorf("start a program: %w", err)
	}
	keep := newRetention(j, c.History)
	p.retention = keep
	var h host
	var pid int
	if c.Main != nil {
		h = newMainHost(c, r, keep)
	} else if h, pid, err = newHost(c, id, r, keep); err != nil {
		return errors.Join(err, j.Close())
	}
	p.host = h
	p.session, err = session.New(session.Config{ // fails for an unknown engine only
		ID: id, Device: h, Ring: r, Journal: j, Engine: c.Engine, Shell: l, Log: c.Log,
		Options: vterm.Options{Cols: c.Cols, Rows: c.Rows, ScrollbackLines: programScrollback},
		Status:  session.Status{State: session.Running, PID: pid, Cols: c.Cols, Rows: c.Rows, Started: time.Now()},
	})
	if err != nil {
		return errors.Join(err, j.Close())
	}
	p.watch = p.session.Watch()
	h.start(p.session)
	p.feeding.Go(p.feedOutput)
	return nil
}

// Session returns the underlying session: frames, watches, time travel.
func (p *Program) Session() *session.Session { return p.session }

// Close ends the program and all processes that it started: first by SIGHUP, as from a closing terminal, then by
// SIGTERM, then by SIGKILL. It returns once all of them have ended; only Screen is valid then. Later calls wait for the
// first and return the same error.
func (p *Program) Close() error {
	p.stopAfterFunc()
	p.shutdown()
	return p.closeErr
}

// shutdown ends the program, once.
func (p *Program) shutdown() {
	p.closeOnce.Do(func() {
		p.closeErr = p.host.terminate(p.grace)
		last := p.Screen()
		p.finalScreen.Store(&last)
		p.session.Stop()
		p.feeding.Wait()
		p.watch.Close()
		p.closeErr = errors.Join(p.closeErr, p.removeScripts())
	})
}

// removeScripts removes the directories of the shell integration.
func (p *Program) removeScripts() error {
	if p.scripts == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(p.scripts), shell.RemoveMemoryDir(p.shellStateDir))
}

// Wait waits for the program's end. It does not wait for background processes; Close ends those.
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

// WaitFor waits until any of the conditions holds. Text conditions match output since the last input.
func (p *Program) WaitFor(ctx context.Context, conds ...session.Cond) (session.WaitResult, error) {
	w, err := p.session.Wait(ctx, session.WaitSpec{Conds: conds})
	if err == nil && len(w.Fired) == 0 {
		err = session.ErrStopped
	}
	return w, err
}

// WaitQuiet waits until the program has printed nothing new for d; a turning spinner is not new.
func (p *Program) WaitQuiet(ctx context.Context, d time.Duration) error {
	_, err := p.WaitFor(ctx, session.Cond{Kind: session.CondQuiet, Quiet: d})
	return err
}

// Snapshot is the screen at one moment.
type Snapshot struct{ render.Screen }

// Text returns the screen's rows without trailing blanks, and without trailing empty rows.
func (s *Snapshot) Text() string { return string(render.Text(nil, &s.Screen, render.TextOptions{})) }

// Screen returns the terminal's current screen, or after Close the last one.
func (p *Program) Screen() Snapshot {
	var f vterm.Frame
	var s Snapshot
	if p.session.Frame(context.Background(), &f, vterm.Query{}) == nil {
		render.FromFrame(&s.Screen, &f)
	} else if last := p.finalScreen.Load(); last != nil {
		s = *last
	}
	return s
}

// Output returns raw output from an offset on (Session.Output).
func (p *Program) Output(from uint64, buf []byte) (session.Chunk, error) {
	return p.session.Output(from, buf)
}

// Resize changes the terminal's size, in cells, and signals the program.
func (p *Program) Resize(cols, rows int) error {
	if err := p.session.Resize(context.Background(), cols, rows); err != nil {
		return err
	}
	p.expectReader.mu.Lock()
	defer p.expectReader.mu.Unlock()
	p.expectReader.expecter.SetWidth(cols)
	return nil
}

// Signal sends a signal to the terminal's foreground process group.
func (p *Program) Signal(sig os.Signal) error { return p.host.signal(sig) }

// wake sends to c, a channel with one buffered value, unless a value is pending.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
