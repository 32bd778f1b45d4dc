package expect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// ptyDriver runs programs on a real terminal.
type ptyDriver struct {
	t        testing.TB
	secrets  map[string]string
	recorder *Recorder // receives all events, if set

	mu       sync.Mutex
	expecter *respond.Expecter
	vt       *vterm.Terminal
	cmd      *exec.Cmd
	tty      *os.File
	offset   uint64
	output   []byte
	changed  chan struct{} // closed and replaced at each event
	ended    bool          // the program's output has ended
	exitCode int
}

func (d *ptyDriver) Spawn(_ context.Context, s Spawn) error {
	argv := s.Argv
	if s.Line != "" {
		argv = []string{"/bin/sh", "-c", s.Line}
	}
	d.expecter, d.vt, d.changed = respond.NewExpecter(0), vterm.New(vterm.Options{}), make(chan struct{})
	d.offset, d.ended = 0, false
	d.cmd = exec.Command(argv[0], argv[1:]...)
	d.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "PS1=$ ")
	for k, v := range s.Env {
		d.cmd.Env = append(d.cmd.Env, k+"="+v)
	}
	d.cmd.Dir = s.Cwd
	var err error
	d.tty, err = pty.StartWithSize(d.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return err
	}
	done := make(chan struct{})
	d.t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		<-done
		_ = d.tty.Close()
	})
	go func() {
		defer close(done)
		d.readOutput()
	}()
	return nil
}

// readOutput processes the program's output until its end.
func (d *ptyDriver) readOutput() {
	buf := make([]byte, 4096)
	for {
		n, err := d.tty.Read(buf)
		d.mu.Lock()
		d.updateEcho()
		d.expecter.Output(time.Now(), d.offset, buf[:n])
		_, _ = d.vt.Write(buf[:n])
		if d.recorder != nil {
			d.recorder.Output(buf[:n])
		}
		d.offset += uint64(n)
		d.output = append(d.output, buf[:n]...)
		if err != nil {
			_ = d.cmd.Wait()
			d.ended, d.exitCode = true, d.cmd.ProcessState.ExitCode()
		}
		close(d.changed)
		d.changed = make(chan struct{})
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// updateEcho passes the terminal's echo settings on. The caller holds mu.
func (d *ptyDriver) updateEcho() respond.EchoState {
	s := respond.EchoApp
	if t, err := unix.IoctlGetTermios(int(d.tty.Fd()), unix.TCGETS); err == nil {
		switch {
		case t.Lflag&unix.ECHO != 0:
			s = respond.EchoOn
		case t.Lflag&unix.ICANON != 0:
			s = respond.EchoOff
		}
	}
	d.expecter.SetEcho(s)
	if d.recorder != nil {
		d.recorder.SetEcho(s)
	}
	return s
}

func (d *ptyDriver) Type(ctx context.Context, in Input) error {
	var data []byte
	switch in.Kind {
	case InputKeys:
		keys, err := input.ParseKeys(in.Value)
		if err != nil {
			return err
		}
		d.mu.Lock()
		m := d.vt.Modes()
		d.mu.Unlock()
		for _, k := range keys {
			data = input.AppendKey(data, k, &m)
		}
	case InputSecret:
		if err := d.waitForEchoOff(ctx, in.Force); err != nil {
			return err
		}
		data = []byte(d.secrets[in.Value])
	default:
		data = []byte(in.Value)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.updateEcho()
	d.expecter.HandleInput(respond.Input{Data: data, Secret: in.Kind == InputSecret})
	if d.recorder != nil {
		d.recorder.AddInput(data)
	}
	_, err := d.tty.Write(data)
	return err
}

// waitForEchoOff waits until the terminal does not echo, unless force is set.
func (d *ptyDriver) waitForEchoOff(ctx context.Context, force bool) error {
	for {
		d.mu.Lock()
		s := d.updateEcho()
		d.mu.Unlock()
		if s == respond.EchoOff || force {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the secret was not sent: the terminal echoes")
		}
	}
}

func (d *ptyDriver) Expect(ctx context.Context, patterns []Pattern) (Match, error) {
	var list []respond.Pattern
	var index []int
	exit := -1
	for i, p := range patterns {
		if p.Exit {
			exit = i
			continue
		}
		list, index = append(list, respond.Pattern{Text: p.Text, Regexp: p.Regexp}), append(index, i)
	}
	ps, err := respond.Compile(list...)
	if err != nil {
		return Match{}, err
	}
	for {
		d.mu.Lock()
		f, ok := d.expecter.Find(time.Now(), ps, d.ended)
		change, ended := d.changed, d.ended
		at, waits := d.expecter.Next()
		d.mu.Unlock()
		switch {
		case ok:
			return Match{Pattern: index[f.Pattern], Text: f.Text, Groups: f.Groups, NamedGroups: f.NamedGroups}, nil
		case ended && exit >= 0:
			return Match{Pattern: exit}, nil
		case ended:
			return Match{}, ErrExited
		}
		var pause <-chan time.Time
		if waits {
			pause = time.After(time.Until(at))
		}
		select {
		case <-change:
		case <-pause:
		case <-ctx.Done():
			return Match{}, ctx.Err()
		}
	}
}

func (d *ptyDriver) State(context.Context) (TerminalState, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		return TerminalState{}, errors.New("no program started")
	}
	var f vterm.Frame
	d.vt.Frame(&f, vterm.Query{})
	var rows []string
	for _, l := range f.Lines {
		var row []byte
		for _, c := range l.Cells {
			row = f.AppendText(row, c)
		}
		rows = append(rows, strings.TrimRight(string(row), " "))
	}
	cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", d.cmd.Process.Pid)) // "" when it has ended
	return TerminalState{Screen: strings.TrimRight(strings.Join(rows, "\n"), "\n"), Cwd: cwd, Exited: d.ended, ExitCode: d.exitCode}, nil
}

// loginScript prompts for a name, a password and a confirmation.
const loginScript = `
printf 'Name: '; read -r name
stty -echo; printf 'Password for %s: ' "$name"; read -r pw; stty echo; echo
while :; do
	printf 'Continue (y/n)? '; read -r answer
	case $answer in y) break ;; n) exit 3 ;; esac
	echo "What is $answer?"
done
[ "$pw" = hunter2 ] && echo "Welcome, $name"
`

// FEATURES: R51, R53, R55
func TestRun_RealPrograms(t *testing.T) {
	tier.Full(t)
	for _, tt := range []struct {
		name, needs, src string
	}{
		{"name, password, confirm", "stty", `
steps:
  - spawn: {argv: [/bin/sh, -c, "${stub}"]}
  - expect: "Name: "
  - line: bob
  - expect: {regexp: 'Password for (\w+): $'}
  - assert: {var: "1", equals: bob}
  - secret: env:PW
    enter: true
  - loop: [maybe, perhaps, y]
    as: answer
    do:
      - expect: "Continue (y/n)? "
      - line: ${answer}
  - expect: Welcome, bob
  - wait: exit
  - assert: {exit: 0, not: {screen: hunter2}}
`},
		{"wrong password", "stty", `
steps:
  - spawn: {argv: [/bin/sh, -c, "${stub}"]}
  - expect: "Name: "
  - line: bob
  - expect: "Password"
  - secret: env:WRONG
    enter: true
  - expect: "?"
  - line: y
  - expect: [{text: Welcome, do: [{fail: let in}]}, {exit: true}]
  - assert: {exit: 1}
`},
		{"Python", "python3", `
steps:
  - spawn: {argv: [python3, -q], env: {PYTHON_BASIC_REPL: "1"}}
  - expect: {regexp: '^>>> $'}
  - line: print("mar" + "ker", 6*7)
  - expect: {regexp: 'marker (?P<n>\d+)'}
  - assert: {var: n, equals: "42"}
  - expect: {regexp: '^>>> $'}
  - line: "def f(x):"
  - expect: {regexp: '^\.\.\. $'}
  - line: "    return x + 1"
  - expect: {regexp: '^\.\.\. $'}
  - line: ""
  - expect: {regexp: '^>>> $'}
  - loop: 3
    as: i
    do:
      - line: f(${i}) * 100
      - expect: {regexp: '^\d00$'}
      - expect: {regexp: '^>>> $'}
  - assert: {screen: "400"}
  - line: raise SystemExit(5)
  - wait: exit
  - assert: {exit: 5}
`},
		{"bash select", "bash", `
steps:
  - spawn:
      argv: [bash, -c, 'PS3="Which? "; select x in red green blue; do echo "You took $x, number $REPLY"; [ "$x" = blue ] && break; done']
  - expect: {regexp: '(\d)\) blue'}
  - set: {blue: "${1}"}
  - expect: "Which? "
  - line: "1"
  - expect: You took red
  - expect: "Which? "
  - line: ${blue}
  - expect: You took blue, number ${blue}
  - wait: exit
`},
		{"bash prompt", "bash", `
steps:
  - spawn: {argv: [bash, --norc, --noprofile], cwd: /}
  - expect: {regexp: '\$ $'}
  - line: echo "mar""ker"
  - expect: marker
  - expect: {regexp: '\$ $'}
  - line: cd /usr && echo done
  - expect: {regexp: '^done$'}
  - expect: {regexp: '\$ $'}
  - assert: {cwd: /usr}
  - keys: echo oops<C-c>
  - expect: {regexp: '\$ $'}
  - keys: <C-d>
  - wait: exit
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tier.Need(t, tt.needs)
			vars := map[string]string{"stub": loginScript}
			s := mustLoad(t, tt.src, LoadOptions{Vars: vars})
			d := &ptyDriver{t: t, secrets: map[string]string{"env:PW": "hunter2", "env:WRONG": "guess"}}
			rep := Run(t.Context(), s, d, Options{Vars: vars, StepTimeout: time.Minute})
			if !rep.OK {
				t.Errorf("%s\n%s\n%q", rep.Error, rep.Screen, d.output)
			}
		})
	}
}

// TestRecorder_ScriptRuns checks that a recorded script repeats its dialogue.
// FEATURES: R53, R55
func TestRecorder_ScriptRuns(t *testing.T) {
	tier.Need(t, "stty")
	argv := []string{"/bin/sh", "-c", loginScript}
	vars := map[string]string{"stub": loginScript}
	d := &ptyDriver{t: t, recorder: NewRecorder(argv), secrets: map[string]string{"env:PW": "hunter2"}}
	s := mustLoad(t, `
steps:
  - spawn: {argv: [/bin/sh, -c, "${stub}"]}
  - expect: "Name: "
  - line: bob
  - expect: "Password for bob: "
  - secret: env:PW
    enter: true
  - expect: "? "
  - line: well
  - expect: "Continue"
  - expect: "? "
  - line: y
  - wait: exit
`, LoadOptions{Vars: vars})
	if rep := Run(t.Context(), s, d, Options{Vars: vars, StepTimeout: time.Minute}); !rep.OK {
		t.Fatalf("%s\n%q", rep.Error, d.output)
	}
	d.recorder.Exit(d.exitCode)
	src, err := d.recorder.Script()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src[strings.Index(string(src), "\n    - expect"):]), "hunter2") {
		t.Errorf("the secret is in the script:\n%s", src)
	}
	replay := &ptyDriver{t: t, secrets: map[string]string{"env:SECRET_1": "hunter2"}}
	rep := Run(t.Context(), mustLoad(t, string(src), LoadOptions{}), replay, Options{StepTimeout: time.Minute})
	if !rep.OK || len(rep.Steps) != 11 {
		t.Errorf("got %d steps, want 11: %s\n%s\n%q", len(rep.Steps), rep.Error, src, replay.output)
	}
}
