//go:build unix

package termio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/longterm-dev/longterm/render"
)

// guard is a small process that gives the terminal back when this one is killed and
// cannot. It waits on a pipe: a line means that all is well, the pipe's end without one
// that this process is gone. It has a session of its own, so that what ends a whole job or
// hangs up leaves it alone; a shell that has taken the terminal over meanwhile, and set
// it up its own way, is left alone by it.
type guard struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// guardScript gets the terminal as standard output, and what resets modes and colours as
// arguments. What was sent without a newline names what else is to be undone: c, colours.
const guardScript = `trap "" HUP INT QUIT TERM PIPE TTOU TTIN TSTP
raw=$(stty -g <&1 2>/dev/null)
IFS= read -r left && exit 0
printf %s "$1"
case $left in *c*) printf %s "$2" ;; esac
[ -n "$raw" ] && [ "$(stty -g <&1 2>/dev/null)" = "$raw" ] && stty sane <&1`

// startGuard starts a guard for a terminal that is raw already, with what it would have to
// print; nil when it cannot.
func startGuard(out *os.File, reset []byte) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "longterm-guard", string(reset), string(render.AppendColorsReset(nil)))
	cmd.Stdin, cmd.Stdout = r, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		_ = w.Close()
		return nil
	}
	return &guard{pipe: w, cmd: cmd}
}

// recoloured has the guard undo colours, too.
func (g *guard) recoloured() {
	if g != nil {
		_, _ = g.pipe.WriteString("c") // a guard that is gone is none
	}
}

// dismiss ends the guard: the terminal was given back.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_, _ = g.pipe.WriteString("\n")
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}

// Reset puts a terminal in order that something left in disorder, whatever it was.
func Reset(in, out *os.File) error {
	if !AreTerminals(in, out) {
		return errors.New("standard input and output must be the terminal to reset")
	}
	b := append(render.AppendModesReset(nil), "\x1b[9999;1H\r\n"...) // below all that is there: the cursor may be anywhere
	if _, err := out.Write(render.AppendColorsReset(b)); err != nil {
		return fmt.Errorf("reset the terminal: %w", err)
	}
	stty := exec.Command("stty", "sane")
	stty.Stdin = in
	if msg, err := stty.CombinedOutput(); err != nil {
		return fmt.Errorf("reset the terminal: stty: %w %s", err, msg)
	}
	return nil
}
