//go:build unix

package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// testTimeout bounds one step of a shell in a test.
const testTimeout = time.Minute

// testShellSession is a shell on a PTY with an emulator and a tracker.
type testShellSession struct {
	t       *testing.T
	home    string
	launch  Launch
	pty     *os.File
	cmd     *exec.Cmd
	chunks  chan []byte
	engine  *vterm.Terminal
	tracker *Tracker
	bytes   []byte // all output
	changes []Change
	taken   int // changes that nextChange has returned
	eof     bool
}

// testShellOptions are the differences between shells in tests.
type testShellOptions struct {
	argv  []string
	files map[string]string // in the home directory
	env   []string
	plain bool // without the integration
}

// shellPath returns the path of a shell, or skips the test.
func shellPath(t *testing.T, name string) string {
	t.Helper()
	return tier.Path(t, name)
}

// newTestShellSession starts a shell that ends with the test.
func newTestShellSession(t *testing.T, o testShellOptions) *testShellSession {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range o.files {
		to := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if Detect(o.argv) == Zsh && o.files[".zshrc"] == "" && o.files[".zshenv"] == "" {
		// Keeps zsh's first-run questions away.
		if err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Where this is missing, fish has a program make it in the background, beyond the test's end.
	if err := os.MkdirAll(filepath.Join(home, ".local/share/fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, ".private")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"SHELL=" + o.argv[0], "USER=tester", "LOGNAME=tester",
	}, o.env...)
	r := &testShellSession{t: t, home: home, engine: vterm.New(vterm.Options{Cols: 100, Rows: 40})}
	r.launch = Launch{Argv: o.argv, Env: env, Quality: None}
	if !o.plain {
		if r.launch, err = Prepare(Setup{Argv: o.argv, Env: env, Cwd: home, Host: "testhost", Dir: dir}); err != nil {
			t.Fatal(err)
		}
	}
	r.tracker = NewTracker(r.launch)
	r.start()
	return r
}

// start starts the shell on its PTY.
func (r *testShellSession) start() {
	r.t.Helper()
	r.cmd = exec.Command(r.launch.Argv[0], r.launch.Argv[1:]...)
	r.cmd.Env, r.cmd.Dir = r.launch.Env, r.home
	f, err := pty.StartWithSize(r.cmd, &pty.Winsize{Cols: 100, Rows: 40})
	if err != nil {
		r.t.Fatal(err)
	}
	if f, err = pollable(f); err != nil {
		r.t.Fatal(err)
	}
	r.pty = f
	r.chunks = make(chan []byte, 1024)
	go func() {
		defer close(r.chunks)
		for {
			b := make([]byte, 4096)
			n, err := f.Read(b)
			if n > 0 {
				r.chunks <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	r.t.Cleanup(func() {
		r.killForeground()
		_ = unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL) // with its subshells, which write below home
		limit := time.AfterFunc(200*time.Millisecond, func() { _ = f.Close() })
		for range r.chunks { // until no process has the terminal open
		}
		limit.Stop()
		_ = f.Close()
		_ = r.cmd.Wait()
	})
}

// pollable returns f in a mode in which Close ends a Read.
func pollable(f *os.File) (*os.File, error) {
	defer func() { _ = f.Close() }()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "pty"), nil
}

// killForeground kills the programs in a shell that is about to be killed.
func (r *testShellSession) killForeground() {
	raw, err := r.pty.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if pgrp, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil && pgrp > 1 && pgrp != r.cmd.Process.Pid {
			_ = unix.Kill(-pgrp, unix.SIGKILL)
		}
	})
}

// readUntil processes output until ok returns true.
func (r *testShellSession) readUntil(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(testTimeout)
	defer deadline.Stop()
	for polls := 0; !ok(); {
		if r.eof {
			r.t.Fatalf("the shell ended while waiting for %s\n%s", what, r.describe())
		}
		var poll <-chan time.Time
		if d := r.tracker.State().PossibleEnd; d != nil && d.LatePrompt != nil {
			if !r.isEditorReading() {
				polls = 0
			} else if polls++; polls > 100 { // earlier output may not have arrived yet
				r.apply(Event{Kind: EventShellReads, At: uint64(len(r.bytes)), Time: time.Now()})
				continue
			}
			poll = time.After(time.Millisecond)
		}
		select {
		case <-poll:
		case b, open := <-r.chunks:
			if polls = 0; !open {
				r.eof = true
				r.apply(Event{Kind: EventExit, At: uint64(len(r.bytes)), Time: time.Now()})
				continue
			}
			r.feed(b)
		case <-deadline.C:
			r.t.Fatalf("no %s after %v\n%s", what, testTimeout, r.describe())
		}
	}
}

// isEditorReading reports whether the shell's line editor reads the terminal, by the kernel's state.
func (r *testShellSession) isEditorReading() bool {
	raw, err := r.pty.SyscallConn()
	if err != nil {
		return false
	}
	edits := false
	_ = raw.Control(func(fd uintptr) {
		m, err := sys.ReadModes(int(fd))
		pgrp, pgrpErr := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		edits = err == nil && pgrpErr == nil && !m.Canonical && pgrp == r.cmd.Process.Pid
	})
	return edits
}

// feed passes output to the emulator and its events to the tracker.
func (r *testShellSession) feed(b []byte) {
	r.bytes = append(r.bytes, b...)
	_, _ = r.engine.Write(b)
	if reply := r.engine.Replies(nil); len(reply) > 0 {
		_, _ = r.pty.Write(reply)
	}
	for _, e := range r.engine.Events(nil) {
		if event, ok := FromVterm(&e); ok {
			event.Time = time.Now()
			r.apply(event)
		}
	}
}

// apply passes an event to the tracker and collects the changes.
func (r *testShellSession) apply(e Event) { r.changes = append(r.changes, r.tracker.Apply(e)...) }

// describe returns the state and the screen, for failures.
func (r *testShellSession) describe() string {
	return fmt.Sprintf("screen:\n%s\nlast bytes: %q", r.screen(), r.bytes[max(0, len(r.bytes)-400):])
}

// waitForPrompt waits until the shell is at its prompt.
func (r *testShellSession) waitForPrompt() {
	r.t.Helper()
	r.readUntil("prompt", func() bool { return r.tracker.Phase() == PhasePrompt })
}

// typeLine types a line with Enter and reports it to the tracker.
func (r *testShellSession) typeLine(line string) {
	r.apply(Event{Kind: EventTyped, At: uint64(len(r.bytes)), Time: time.Now(), Text: line})
	r.sendKeys(strings.ReplaceAll(line, "\n", "\r") + "\r")
}

// sendKeys writes bytes as input.
func (r *testShellSession) sendKeys(s string) {
	r.t.Helper()
	if _, err := r.pty.WriteString(s); err != nil {
		r.t.Fatal(err)
	}
}

// nextChange waits for the next change of a kind.
func (r *testShellSession) nextChange(kind ChangeKind) Change {
	r.t.Helper()
	var found Change
	r.readUntil("change", func() bool {
		for r.taken < len(r.changes) {
			c := r.changes[r.taken]
			r.taken++
			if c.Kind == kind {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// run runs a line from prompt to prompt.
func (r *testShellSession) run(line string) Command {
	r.t.Helper()
	r.waitForPrompt()
	r.taken = len(r.changes)
	r.typeLine(line)
	c := r.nextChange(ChangeFinished).Command
	r.waitForPrompt()
	return c
}

// output returns the raw output of a command.
func (r *testShellSession) output(c Command) string { return string(r.bytes[c.Start:c.End]) }

// text returns the output of a command as lines on a terminal.
func (r *testShellSession) text(c Command) string {
	e := vterm.New(vterm.Options{Cols: 100, Rows: 40})
	_, _ = e.Write(r.bytes[c.Start:c.End])
	return screenText(e)
}

func (r *testShellSession) screen() string { return screenText(r.engine) }

func screenText(e *vterm.Terminal) string {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var lines []string
	for i := range f.Lines {
		var row []byte
		for _, c := range f.Lines[i].Cells {
			row = f.AppendText(row, c)
		}
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// exitOf returns the exit status of a command, or -1 if unknown.
func exitOf(c Command) int {
	if c.Exit == nil {
		return -1
	}
	return *c.Exit
}

// cursorLine returns the text of the cursor's row.
func (r *testShellSession) cursorLine() string {
	var f vterm.Frame
	r.engine.Frame(&f, vterm.Query{})
	lines := strings.Split(r.screen(), "\n")
	if f.Cursor.Row < len(lines) {
		return lines[f.Cursor.Row]
	}
	return ""
}
