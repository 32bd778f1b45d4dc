//go:build unix

// Package keeping is the process of a keeper: it understands its command line and runs it, before the rest of the program is
// initialised.
//
// A keeper lives for as long as its sessions, and what packages make before main (Go specification, Program initialization) stays
// with it: tables of encodings, of the viewer's keys, of patterns, which were four fifths of its memory. Packages are initialised in
// the order of their paths, as far as what they import allows it. What a keeper is made of imports none of those, nor net, which
// comes after most of them (unixsock), so that this package's init comes first, and does not return (TestKeepingComesEarly).
package keeping

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/internal/logs"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/paths"
)

// Verb is what the command line of a keeper begins with.
const Verb = "keeper"

// DaemonArgv is the command line of the daemon, which finds its directories in the environment.
func DaemonArgv() []string { return []string{"longterm", "daemon", "serve"} }

func init() {
	if len(os.Args) < 2 || os.Args[1] != Verb || os.Getenv(shortcut.Leave) != "" {
		return
	}
	l, err := Parse(os.Args[2:])
	if err != nil {
		return // for the verb to say
	}
	ended := make(chan error)
	go func() { ended <- l.Run(nil) }() // this goroutine has the first thread for itself until all is initialised
	if err := <-ended; err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "longterm:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Line is a keeper's command line.
type Line struct {
	Socket, Lock, Key string // paths, and the placement key
	Daemon            bool   // it keeps a daemon running
	DaemonRuns        bool   // which is there already and will connect
	ready, handoff    int    // descriptors to say on that the socket is served, and with what an earlier execution left; 0: none
}

// Parse understands the arguments behind the verb.
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

// Run is the whole life of the process. openPTY is what terminals are opened with; nil: the system's.
func (l Line) Run(openPTY func() (master, slave *os.File, err error)) error {
	// By itself a write beyond the limit of a file's size ends the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	cfg := keeper.Config{
		Socket: l.Socket, Lock: l.Lock, Key: l.Key, DaemonRuns: l.DaemonRuns,
		Log: logs.To(os.Stderr), Build: shortcut.Version(), OpenPTY: openPTY,
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
