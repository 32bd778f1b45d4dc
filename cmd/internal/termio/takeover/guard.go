//go:build unix

// Package takeover prepares the user's terminal before a session is drawn on it, and restores it afterwards.
//
// It owns three things: raw mode (Linux only, here without golang.org/x/term), the escape sequences that enter the
// alternate screen and reset modes, and the guard, a small process that restores the terminal if this process is
// killed. fastpath uses it before the rest of the program is initialised, and termio afterwards. It therefore imports
// only os, syscall and unsafe.
package takeover

import (
	"os"
	"syscall"
)

// Guard is a small process that restores the terminal if this process is killed. It reads a pipe: a line means a normal
// end; EOF without a line means that this process died. It runs in a separate process session, so signals to a whole
// job and hangups do not reach it. It does nothing if a shell has since taken over the terminal and set its own
// modes.
type Guard struct {
	pipe *os.File // write end of the guard's pipe
	pid  int
}

// guardScript gets the terminal as standard output, and what resets modes and settings as arguments; within $(…) standard output is
// a pipe, so the terminal has another descriptor there. If standard input ended after a "c", it resets the settings too. It starts with
// a string terminator (ST): this process may have been killed within a control string, in which tmux would ignore the reset.
const guardScript = `trap "" HUP INT QUIT TERM PIPE TTOU TTIN TSTP
exec 3>&1
raw=$(stty -g <&3 2>/dev/null)
IFS= read -r left && exit 0
printf '\033\\%s' "$1"
case $left in *c*) printf %s "$2" ;; esac
[ -n "$raw" ] && [ "$(stty -g <&3 2>/dev/null)" = "$raw" ] && { stty sane; stty iutf8; } <&3 2>/dev/null`

// StartGuard starts a guard for a terminal in raw mode. reset and settings are the sequences that restore modes and
// settings. It returns nil if the guard cannot be started; methods of a nil Guard do nothing.
func StartGuard(out *os.File, modesReset, settingsReset string) *Guard {
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
	pid, err := syscall.ForkExec("/bin/sh", []string{"/bin/sh", "-c", guardScript, "longterm-guard", modesReset, settingsReset}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{uintptr(r), out.Fd(), uintptr(null)}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = syscall.Close(w)
		return nil
	}
	return &Guard{pipe: os.NewFile(uintptr(w), "the guard"), pid: pid}
}

// SettingsChanged makes the guard reset settings as well as modes.
func (g *Guard) SettingsChanged() {
	if g != nil {
		_, _ = g.pipe.WriteString("c") // a dead guard cannot help
	}
}

// Dismiss ends the guard without action, after the terminal was restored.
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
