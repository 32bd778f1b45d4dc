//go:build unix

package tmuxcompat

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
)

// run-shell and if-shell: they run in the caller's process, and print where it does.

// status is the exit status of a shell command, as an error.
type status int

func (s status) Error() string { return "" }

// shell returns a command for sh with the caller's environment.
func (x *command) shell(line string) *exec.Cmd {
	cmd := exec.CommandContext(x.ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = x.orHome(x.Cwd), x.Env, x.Stdout, x.Stderr
	if x.has('c') {
		cmd.Dir = x.orHome(x.path(x.flag('c')))
	}
	return cmd
}

func runShell(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil && x.has('t') {
		return err
	}
	switch {
	case x.has('d'):
		return fail("run-shell -d is not there: let the shell wait: run-shell 'sleep 1; …'")
	case len(x.args) == 0:
		return nil
	case x.has('C'):
		return x.runText(x.args[0])
	}
	cmd := x.shell(x.format(x.args[0], p))
	if x.has('b') { // it outlives this process, and so has nowhere to print to
		cmd = exec.Command(cmd.Path, cmd.Args[1:]...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = x.orHome(x.Cwd), x.Env, &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	return exited(cmd.Run())
}

// exited returns a command's exit status as an error.
func exited(err error) error {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return err
	}
	if code := e.ExitCode(); code >= 0 {
		return status(code)
	}
	return status(129) // a signal; as tmux has it, about
}

func ifShell(x *command) error {
	if len(x.args) < 2 {
		return fail("command if-shell: too few arguments (need at least 2)")
	}
	p, err := x.pane(x.flag('t'))
	if err != nil && x.has('t') {
		return err
	}
	cond := x.format(x.args[0], p)
	is := truth(cond)
	if !x.has('F') {
		cmd := x.shell(cond)
		cmd.Stdout, cmd.Stderr = nil, nil
		err := exited(cmd.Run())
		if _, ended := err.(status); err != nil && !ended {
			return err
		}
		is = err == nil
	}
	switch {
	case is:
		return x.runText(x.args[1])
	case len(x.args) > 2:
		return x.runText(x.args[2])
	}
	return nil
}

// maxNested limits the nesting of commands that run commands.
const maxNested = 16

// runText runs tmux's commands in a text.
func (x *command) runText(text string) error {
	if x.nested++; x.nested > maxNested {
		return fail("too many commands within commands")
	}
	defer func() { x.nested-- }()
	commands, ok := commandWords(text)
	if !ok {
		return fail("syntax error: %s", text)
	}
	for _, words := range commands {
		if err := x.run(x.ctx, words); err != nil {
			return err
		}
	}
	return nil
}

// commandWords splits a text into commands, with the quoting of tmux's configuration. Commands are separated by ; and
// newlines.
func commandWords(text string) (commands [][]string, ok bool) {
	var words []string
	var word strings.Builder
	in, quote := false, byte(0)
	end := func() {
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			in = true
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			end()
		case c == ';' || c == '\n':
			if end(); len(words) > 0 {
				commands, words = append(commands, words), nil
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if end(); len(words) > 0 {
		commands = append(commands, words)
	}
	return commands, quote == 0
}

// pipePane implements pipe-pane: it pipes a pane's new output into a command.
func pipePane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	if x.has('I') && !x.has('O') {
		return fail("pipe-pane -I is not supported; use send-keys -l with the command's output")
	}
	piped := x.isPiped(p)
	if piped {
		if err := x.Pipe(x.ctx, "--stop", p.s.ID); err != nil {
			return err
		}
	}
	if len(x.args) == 0 || x.args[0] == "" || piped && x.has('o') {
		return nil
	}
	return x.Pipe(x.ctx, p.s.ID, x.format(x.args[0], p))
}
