// Command longterm keeps terminal sessions alive and lets people and programs use them.
//
// verbs.go holds the table of verbs. The file of each verb reads its flags and calls a package below cmd/internal.
// wire.go connects to the daemon. Verbs get shared state from app.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sandbox/proxy"
)

func main() {
	confine.ServeNetwork = proxy.Run
	confine.Enter()
	os.Exit(run(asTmux(os.Args)))
}

// run executes the program and returns its exit status.
func run(args []string) int {
	leaving := listenForLeaving() // before other packages listen for signals
	outliveFileLimit()
	a := newApp()
	args = a.leading(args)
	ctx, stop := signal.NotifyContext(context.Background(), ending(args)...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	a.args, a.leaving = args, leaving
	defer a.close()
	root := rootCommand(a, args)
	root.SetArgs(args)
	err := detachedError(leaving, root.ExecuteContext(ctx))
	giveTerminalBack()
	if err != nil && !exit.IsSilent(err) {
		a.PrintError(err, a.JSON || asksJSON(args))
	}
	return exit.Status(err)
}

// ending returns the signals that end the program in an orderly way. For clients Ctrl-\ is one of them; a daemon or
// keeper keeps Go's reaction to it, a dump of all goroutines.
func ending(args []string) []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if serves := len(args) > 0 && args[0] == "keeper" || len(args) > 1 && args[0] == "daemon" && args[1] == "serve"; !serves {
		signals = append(signals, syscall.SIGQUIT)
	}
	return signals
}

// asTmux returns the arguments, with the verb tmux-compat in front if the program is called as tmux.
func asTmux(argv []string) []string {
	if len(argv) > 0 && filepath.Base(argv[0]) == "tmux" {
		return append([]string{"tmux-compat"}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// asksJSON reports whether the arguments contain --json.
func asksJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || strings.HasPrefix(arg, "--json=") && arg != "--json=false" {
			return true
		}
	}
	return false
}

// app is the state that the verbs share.
type app struct {
	output.Printer
	args     []string       // arguments of the command line
	leaving  chan os.Signal // signals held back since the fast path took the terminal; nil: it did not
	stdin    *os.File
	starts   bool             // the verb called may start the daemon
	waits    bool             // the verb waits for a session with its own limits, also while a host is unreachable
	config   *config.Settings // read on first use
	platform                  // state that only some systems have
}

func newApp() *app {
	return &app{stdin: os.Stdin, Printer: output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}}
}
