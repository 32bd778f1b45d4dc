//go:build unix

// Package keepermain parses a keeper's command line and runs the keeper before the rest of the program is initialised.
//
// A keeper lives as long as its sessions, and everything that packages create before main (Go specification, Program
// initialization) stays in its memory: tables of encodings, of the viewer's keys, of patterns. They were four fifths of
// it. Packages are initialised in the order of their paths, as far as their imports allow. A keeper imports none of
// those packages, nor net, which comes after most of them (see unixsock). So the init of this package runs first and
// does not return (TestKeepingComesEarly).
package keepermain

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/logs"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/paths"
)

// Verb is the first word of a keeper's command line.
const Verb = "keeper"

// DaemonArgv returns the command line of the daemon. The daemon reads its directories from the environment.
func DaemonArgv() []string { return []string{"longterm", "daemon", "serve"} }

// init runs the keeper if the command line names one, and does not return.
func init() {
	if len(os.Args) < 2 || os.Args[1] != Verb || os.Getenv(fastpath.DisableEnv) != "" {
		return
	}
	l, err := Parse(os.Args[2:])
	if err != nil {
		return // the verb reports the error
	}
	ended := make(chan error)
	go func() { ended <- l.Run(nil) }() // this goroutine has the first thread for itself until all is initialised
	if err := <-ended; err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "longterm:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Line is a parsed keeper command line.
type Line struct {
	Socket, Lock, Key string // paths of socket and lock, and the placement key
	Daemon            bool   // the keeper starts a daemon and restarts it when it dies
	DaemonRuns        bool   // the daemon already runs and will connect
	ready, handoff    int    // inherited descriptors: where to report readiness, and the state of the previous execution; 0: none
}

// Parse parses the arguments after the verb.
func Parse(args []string) (l Line, err error) {
	texts := map[string]*string{"--socket": &l.Socket, "--lock": &l.Lock, "--key": &l.Key}
	bools := map[string]*bool{"--daemon": &l.Daemon, "--daemon-runs": &l.DaemonRuns}
	numbers := map[string]*int{launch.ReadyFlag: &l.ready, keeper.HandoffFlag: &l.handoff}
	for i := 0; i < len(args); i++ {
		name := args[i]
		if is := bools[name]; is != nil {
			*is = true
			continue
		}
		text, number := texts[name], numbers[name]
		if i++; text == nil && number == nil || i == len(args) {
			return l, fmt.Errorf("keepers are started by the programs that need one; %q is no part of their command line", name)
		}
		if text != nil {
			*text = args[i]
		} else if *number, err = strconv.Atoi(args[i]); err != nil || *number <= 2 {
			return l, fmt.Errorf("%s is the number of an open descriptor, not %q", name, args[i])
		}
	}
	if l.Socket == "" || l.Lock == "" {
		return l, errors.New("a keeper needs --socket and --lock")
	}
	return l, nil
}

// Run runs the keeper process until its end. openPTY opens terminals; nil: the system's function.
func (l Line) Run(openPTY func() (master, slave *os.File, err error)) error {
	// By itself a write beyond the limit of a file's size ends the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	cfg := keeper.Config{
		Socket: l.Socket, Lock: l.Lock, Key: l.Key, DaemonRuns: l.DaemonRuns,
		Log: logs.To(os.Stderr), Build: fastpath.Version(), OpenPTY: openPTY,
	}
	if l.Daemon {
		cfg.Daemon = DaemonArgv()
	}
	// Not by a flag: an older version that is upgraded to would not know it.
	if dirs, err := paths.Default(); err == nil && cfg.Key != "" {
		cfg.StateLock = dirs.KeeperStateLock(cfg.Key)
	}
	if l.ready > 0 {
		cfg.Ready = os.NewFile(uintptr(l.ready), "ready")
	}
	if l.handoff > 0 {
		cfg.Handoff = os.NewFile(uintptr(l.handoff), "handoff")
	}
	return keeper.Run(cfg)
}
