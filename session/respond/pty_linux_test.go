package respond

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// Real shells and line editors, each with its own way of echoing, are answered at each
// prompt, and what is typed holds a word that a rule waits for. (fish draws a line that
// wraps as several lines, which cannot be told from output; rules for it look at the
// screen.)
// FEATURES: R44, R51
func TestRealEcho(t *testing.T) {
	tier.Full(t)
	const command = `echo ze""bra; : zebra zebra zebra`
	for _, tt := range []struct {
		name    string
		argv    []string
		command string
		cols    uint16
	}{
		{"bash", []string{"bash", "--norc", "--noprofile", "-i"}, command, 80},
		{"bash wraps", []string{"bash", "--norc", "--noprofile", "-i"}, command, 20},
		{"sh", []string{"sh", "-i"}, command, 80},
		{"zsh", []string{"zsh", "-f", "-i"}, command, 80},
		{"zsh wraps", []string{"zsh", "-f", "-i"}, command, 20},
		{"fish", []string{"fish", "-N", "-C", `function fish_prompt; echo -n "PROMPT> "; end`}, command, 80},
		{"python", []string{"python3", "-q", "-i", "-c", `import sys; sys.ps1 = "PROMPT> "`}, `print("ze" + "bra" if "zebra" else 0)`, 80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tier.Need(t, tt.argv[0])
			e, err := New(Set{Timeout: 30 * time.Second, Rules: []Rule{
				{Text: "PROMPT> ", Max: 3, Reply: say(tt.command + "\r")},
				{Text: "PROMPT> ", Max: 1, Reply: []Reply{{Kind: ReplyKeys, Value: "<C-d>"}}},
				{Text: "zebra"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			s := &ptySession{t: t, e: e, vt: vterm.New(vterm.Options{Cols: int(tt.cols)})}
			s.run(tt.argv, tt.cols)
			for i, want := range []int{3, 1, 3} {
				if got := e.Uses(i); got != want {
					t.Errorf("rule %d fired %d times, want %d\n%q", i, got, want, s.log)
				}
			}
		})
	}
}

// ptySession is the least that an owner of an engine does.
type ptySession struct {
	t   *testing.T
	e   *Engine
	vt  *vterm.Terminal // answers what shells ask of their terminal
	tty *os.File
	off uint64
	log []byte
}

func (s *ptySession) run(argv []string, cols uint16) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "PS1=PROMPT> ", "HOME="+s.t.TempDir(), "HISTFILE=")
	var err error
	if s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: cols}); err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = s.tty.Close()
	}()
	s.do(s.e.Screen(time.Now(), Screen{Cols: int(cols)}))
	output := make(chan []byte)
	go s.read(output)
	for !s.e.Done() {
		var tick <-chan time.Time
		if at, ok := s.e.Next(); ok {
			tick = time.After(time.Until(at))
		}
		select {
		case p, ok := <-output:
			if !ok {
				s.do(s.e.Exit(time.Now()))
				return
			}
			s.take(p)
		case <-tick:
			s.sense()
			s.do(s.e.Tick(time.Now()))
		}
	}
	_ = cmd.Process.Kill() // ends the output
	for range output {
	}
}

// read hands on the output until there is no more.
func (s *ptySession) read(output chan<- []byte) {
	defer close(output)
	for {
		buf := make([]byte, 4096)
		n, err := s.tty.Read(buf)
		if n > 0 {
			output <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

func (s *ptySession) take(p []byte) {
	s.sense()
	s.log = append(s.log, p...)
	s.do(s.e.Output(time.Now(), s.off, p))
	s.off += uint64(len(p))
	_, _ = s.vt.Write(p)
	if r := s.vt.Replies(nil); len(r) > 0 {
		s.write(r)
	}
}

// sense tells who echoes now.
func (s *ptySession) sense() {
	t, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	state := EchoApp
	switch {
	case err != nil:
		return
	case t.Lflag&unix.ECHO != 0:
		state = EchoOn
	case t.Lflag&unix.ICANON != 0:
		state = EchoOff
	}
	s.do(s.e.Echo(time.Now(), state))
}

func (s *ptySession) do(acts []Action) {
	for _, a := range append([]Action(nil), acts...) {
		switch a.Kind {
		case ActText:
			s.reply([]byte(a.Value))
		case ActKeys:
			s.reply([]byte{4}) // the only key here
		case ActFail:
			s.t.Errorf("%s\n%q", a.Value, s.log)
		}
	}
}

func (s *ptySession) reply(p []byte) {
	s.sense()
	s.e.HandleInput(time.Now(), Input{Data: p, Reply: true})
	s.write(p)
}

func (s *ptySession) write(p []byte) {
	if _, err := s.tty.Write(p); err != nil {
		s.t.Error(err)
	}
}
