//go:build unix

package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// A keeper long outlives the process that started it, and everything it starts inherits from it. Before the first start it
// drops accidental inheritance: open files (a script's lock would be held forever), a umask, a priority, limits on files and
// CPU time. It catches ignored signals (caughtSignals); launch.StartKeeper unblocks blocked ones.

// defaultUmask is the umask of sessions whose caller sends none.
const defaultUmask = 0o022

// caughtSignals are the signals that a keeper ignores by catching them. A child gets the default for a caught signal, and
// for one that was ignored before us too. The Go runtime catches all others.
var caughtSignals = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCONT,
}

// dropInheritedState resets umask, priority, signals and files inherited from the starter.
func (k *Keeper) dropInheritedState() {
	syscall.Umask(defaultUmask)
	if err := os.Chdir("/"); err != nil {
		k.log.Warn("leave the directory we were started in", "err", err)
	}
	if k.cfg.Handoff == nil {
		k.closeInherited()
	}
	if err := resetPriority(); err != nil {
		k.log.Warn("sessions keep the priority of the keeper's starter", "err", err)
	}
	for name, which := range map[string]int{"files": unix.RLIMIT_FSIZE, "CPU time": unix.RLIMIT_CPU} {
		if err := sys.RaiseLimit(which); err != nil {
			k.log.Warn("raise a limit", "of", name, "err", err)
		}
	}
}

// closeInherited closes inherited files that are not for us. Ours are marked to be closed on execution, also by the Go
// runtime, so files without that mark are not ours.
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
