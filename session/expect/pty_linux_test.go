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
	t       testing.TB
	secrets map[string]string
	rec     *Recorder // told of everything, if set

	mu     sync.Mutex
	x      *respond.Expecter
	vt     *vterm.Terminal
	cmd    *exec.Cmd
	tty    *os.File
	off    uint64
	log    []byte
	change chan struct{} // closed when anything happened
	ended  bool          // no more output will come
	code   int
}

func (d *ptyDriver) Spawn(_ context.Context, s Spawn) error {
	argv := s.Argv
	if s.Line != "" {
		argv = []string{"/bin/sh", "-c", s.Line}
	}
	d.x, d.vt, d.change = respond.NewExpecter(0), vterm.New(vterm.Options{}), make(chan struct{})
	d.off, d.ended = 0, false
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
		d.read()
	}()
	return nil
}

// read takes the output until there is no more.
func (d *ptyDriver) read() {
	buf := make([]byte, 4096)
	for {
		n, err := d.tty.Read(buf)
		d.mu.Lock()
		d.sense()
		d.x.Output(time.Now(), d.off, buf[:n])
		_, _ = d.vt.Write(buf[:n])
		if d.rec != nil {
			d.rec.Output(buf[:n])
		}
		d.off += uint64(n)
		d.log = append(d.log, buf[:n]...)
		if err != nil {
			_ = d.cmd.Wait()
			d.ended, d.code = true, d.cmd.ProcessState.ExitCode()
		}
		close(d.change)
		d.change = make(chan struct{})
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sense tells who echoes now.
func (d *ptyDriver) sense() respond.EchoState {
	s := respond.EchoApp
	if t, err := unix.IoctlGetTermios(int(d.tty.Fd()), unix.TCGETS); err == nil {
		switch {
		case t.Lflag&unix.ECHO != 0:
			s = respond.EchoOn
		case t.Lflag&unix.ICANON != 0:
			s = respond.EchoOff
		}
	}
	d.x.Echo(s)
	if d.rec != nil {
		d.rec.Echo(s)
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
		if err := d.waitForSilence(ctx, in.Force); err != nil {
			return err
		}
		data = []byte(d.secrets[in.Value])
	default:
		data = []byte(in.Value)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sense()
	d.x.HandleInput(respond.Input{Data: data, Secret: in.Kind == InputSecret})
	if d.rec != nil {
		d.rec.AddInput(data)
	}
	_, err := d.tty.Write(data)
	return err
}

func (d *ptyDriver) waitForSilence(ctx context.Context, force bool) error {
	for {
		d.mu.Lock()
		s := d.sense()
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
		f, ok := d.x.Find(time.Now(), ps, d.ended)
		change, ended := d.change, d.ended
		at, waits := d.x.Next()
		d.mu.Unlock()
		switch {
		case ok:
			return Match{Pattern: index[f.Pattern], Text: f.Text, Groups: f.Groups, Names: f.Names}, nil
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

func (d *ptyDriver) Look(context.Context) (View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd == nil {
		return View{}, errors.New("nothing was started")
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
	return View{Screen: strings.TrimRight(strings.Join(rows, "\n"), "\n"), Cwd: cwd, Exited: d.ended, ExitCode: d.code}, nil
}

const askStub = `
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
func TestRealPrograms(t *testing.T) {
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
			vars := map[string]string{"stub": askStub}
			s := load(t, tt.src, LoadOptions{Vars: vars})
			d := &ptyDriver{t: t, secrets: map[string]string{"env:PW": "hunter2", "env:WRONG": "guess"}}
			rep := Run(t.Context(), s, d, Options{Vars: vars, StepTimeout: time.Minute})
			if !rep.OK {
				t.Errorf("%s\n%s\n%q", rep.Error, rep.Screen, d.log)
			}
		})
	}
}

// A recorded dialogue can be played.
// FEATURES: R53, R55
func TestRecordAndPlay(t *testing.T) {
	tier.Need(t, "stty")
	argv := []string{"/bin/sh", "-c", askStub}
	vars := map[string]string{"stub": askStub}
	d := &ptyDriver{t: t, rec: NewRecorder(argv), secrets: map[string]string{"env:PW": "hunter2"}}
	s := load(t, `
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
		t.Fatalf("%s\n%q", rep.Error, d.log)
	}
	d.rec.Exit(d.code)
	src, err := d.rec.Script()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src[strings.Index(string(src), "\n    - expect"):]), "hunter2") {
		t.Errorf("the secret is in the script:\n%s", src)
	}
	again := &ptyDriver{t: t, secrets: map[string]string{"env:SECRET_1": "hunter2"}}
	rep := Run(t.Context(), load(t, string(src), LoadOptions{}), again, Options{StepTimeout: time.Minute})
	if !rep.OK || len(rep.Steps) != 11 {
		t.Errorf("%d steps: %s\n%s\n%q", len(rep.Steps), rep.Error, src, again.log)
	}
}
