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

// TestEngine_IgnoresEcho_OfRealShells checks that real shells and line editors, each with its own way of echoing, are
// answered at each prompt. The typed text contains a word that a rule matches. (fish draws a wrapped line as several
// lines, which looks like output; rules for it should use OnScreen.)
// FEATURES: R44, R51
func TestEngine_IgnoresEcho_OfRealShells(t *testing.T) {
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
				{Text: "PROMPT> ", Max: 3, Reply: textReply(tt.command + "\r")},
				{Text: "PROMPT> ", Max: 1, Reply: []Reply{{Kind: ReplyKeys, Value: "<C-d>"}}},
				{Text: "zebra"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			s := &ptySession{t: t, engine: e, vt: vterm.New(vterm.Options{Cols: int(tt.cols)})}
			s.run(tt.argv, tt.cols)
			for i, want := range []int{3, 1, 3} {
				if got := e.MatchCount(i); got != want {
					t.Errorf("rule %d matched %d times, want %d\n%q", i, got, want, s.output)
				}
			}
		})
	}
}

// ptySession runs an engine on a real terminal, as a session's owner does.
type ptySession struct {
	t      *testing.T
	engine *Engine
	vt     *vterm.Terminal // answers the queries of shells to their terminal
	tty    *os.File
	offset uint64
	output []byte
}

// run starts argv and handles its output until it ends or the engine is done.
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
	s.perform(s.engine.Screen(time.Now(), Screen{Cols: int(cols)}))
	output := make(chan []byte)
	go s.forwardOutput(output)
	for !s.engine.Done() {
		var tick <-chan time.Time
		if at, ok := s.engine.Next(); ok {
			tick = time.After(time.Until(at))
		}
		select {
		case p, ok := <-output:
			if !ok {
				s.perform(s.engine.Exit(time.Now()))
				return
			}
			s.handleOutput(p)
		case <-tick:
			s.updateEcho()
			s.perform(s.engine.Tick(time.Now()))
		}
	}
	_ = cmd.Process.Kill() // ends the output
	for range output {
	}
}

// forwardOutput sends the program's output until its end, and closes the channel.
func (s *ptySession) forwardOutput(output chan<- []byte) {
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

// handleOutput passes output to the engine and the emulator.
func (s *ptySession) handleOutput(p []byte) {
	s.updateEcho()
	s.output = append(s.output, p...)
	s.perform(s.engine.Output(time.Now(), s.offset, p))
	s.offset += uint64(len(p))
	_, _ = s.vt.Write(p)
	if r := s.vt.Replies(nil); len(r) > 0 {
		s.write(r)
	}
}

// updateEcho passes the terminal's echo settings to the engine.
func (s *ptySession) updateEcho() {
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
	s.perform(s.engine.SetEcho(time.Now(), state))
}

// perform performs the actions of the engine.
func (s *ptySession) perform(acts []Action) {
	for _, a := range append([]Action(nil), acts...) {
		switch a.Kind {
		case ActText:
			s.writeReply([]byte(a.Value))
		case ActKeys:
			s.writeReply([]byte{4}) // <C-d>, the only key of these rules
		case ActFail:
			s.t.Errorf("%s\n%q", a.Value, s.output)
		}
	}
}

// writeReply types a reply of the engine.
func (s *ptySession) writeReply(p []byte) {
	s.updateEcho()
	s.engine.HandleInput(time.Now(), Input{Data: p, Reply: true})
	s.write(p)
}

// write writes input to the terminal.
func (s *ptySession) write(p []byte) {
	if _, err := s.tty.Write(p); err != nil {
		s.t.Error(err)
	}
}
