//go:build unix

package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// A keeper outlives who started it by far, and everything it starts inherits from it. What it
// was given by accident of who came first is shed here, before anything is started: open
// files (a lock held by a script would be held for ever), a umask, a priority, limits on
// files and CPU time. Signals that were ignored are caught, see caught; blocked ones are
// launch.Keeper's to unblock.

// neutralUmask is that of sessions whose caller says none.
const neutralUmask = 0o022

// caught are the signals that a keeper takes no notice of. They are caught, not ignored: a
// child gets the default for a caught signal, and for one that was ignored before us too.
// The Go runtime catches all others.
var caught = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCONT,
}

func (k *Keeper) shed() {
	syscall.Umask(neutralUmask)
	if err := os.Chdir("/"); err != nil {
		k.log.Warn("leave the directory we were started in", "err", err)
	}
	if k.cfg.Handoff == nil {
		k.closeInherited()
	}
	if err := neutralPriority(); err != nil {
		k.log.Warn("sessions run at the priority of who started the first one", "err", err)
	}
	for name, which := range map[string]int{"files": unix.RLIMIT_FSIZE, "CPU time": unix.RLIMIT_CPU} {
		if err := sys.RaiseLimit(which); err != nil {
			k.log.Warn("raise a limit", "of", name, "err", err)
		}
	}
}

// closeInherited closes the files that came with us and are not for us. Ours are marked to be
// closed on execution, by the Go runtime too, so those that survived ours are not.
func (k *Keeper) closeInherited() {
	own := map[int]bool{}
	if k.cfg.Ready != nil {
		fd := int(k.cfg.Ready.Fd())
		own[fd] = true
		unix.CloseOnExec(fd)
	}
	fds, _ := sys.Descriptors(0)
	for _, fd := range fds {
		if fd <= 2 || own[fd] {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
