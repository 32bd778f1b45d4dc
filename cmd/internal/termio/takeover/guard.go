//go:build unix

// Package takeover is what is done to a person's terminal before a session is drawn on it, and what undoes it: a guard,
// sequences, and on Linux raw mode. It imports next to nothing, as it is also at work before the rest of the program is
// initialised (shortcut).
package takeover

import (
	"os"
	"syscall"
)

// Guard is a small process that gives the terminal back when this one is killed and
// cannot. It waits on a pipe: a line means that all is well, the pipe's end without one
// that this process is gone. It has a session of its own, so that what ends a whole job or
// hangs up leaves it alone; a shell that has taken the terminal over meanwhile, and set
// it up its own way, is left alone by it.
type Guard struct {
	pipe *os.File
	pid  int
}

// guardScript gets the terminal as standard output, and what resets modes and settings as arguments; within $(…) standard output is
// a pipe, so the terminal has another descriptor there. If standard input ended after a "c", it resets the settings too.
const guardScript = `trap "" HUP INT QUIT TERM PIPE TTOU TTIN TSTP
exec 3>&1
raw=$(stty -g <&3 2>/dev/null)
IFS= read -r left && exit 0
printf %s "$1"
case $left in *c*) printf %s "$2" ;; esac
[ -n "$raw" ] && [ "$(stty -g <&3 2>/dev/null)" = "$raw" ] && { stty sane; stty iutf8; } <&3 2>/dev/null`

// StartGuard starts a guard for a terminal that is raw already, with what it would have to
// print; nil when it cannot.
func StartGuard(out *os.File, reset, settings string) *Guard {
	r, w, err := pipe()
	if err != nil {
		return nil
	}
	defer syscall.Close(r)
	null, err := syscall.Open(os.DevNull, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		_ = syscall.Close(w)
		return nil
	}
	defer syscall.Close(null)
	pid, err := syscall.ForkExec("/bin/sh", []string{"/bin/sh", "-c", guardScript, "longterm-guard", reset, settings}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{uintptr(r), out.Fd(), uintptr(null)}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = syscall.Close(w)
		return nil
	}
	return &Guard{pipe: os.NewFile(uintptr(w), "the guard"), pid: pid}
}

// SettingsChanged makes the guard reset settings too.
func (g *Guard) SettingsChanged() {
	if g != nil {
		_, _ = g.pipe.WriteString("c") // a guard that is gone is none
	}
}

// Dismiss ends the guard: the terminal was given back.
func (g *Guard) Dismiss() {
	if g == nil {
		return
	}
	_, _ = g.pipe.WriteString("\n")
	_ = g.pipe.Close()
	for {
		if _, err := syscall.Wait4(g.pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}
