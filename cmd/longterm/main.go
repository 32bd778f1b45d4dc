// Command longterm keeps terminals alive and makes them usable by programs.
//
// verbs.go has the table of verbs; each verb has a file of its own, which reads flags and
// hands over to a room below internal. wire.go reaches the daemon; verbs get what they
// need from app.
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

// run is the whole program; it returns the exit status.
func run(args []string) int {
	leaving := listenForLeaving() // before others do
	outliveFileLimit()
	a := newApp()
	args = a.leading(args)
	ctx, stop := signal.NotifyContext(context.Background(), ending(args)...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	a.args, a.leaving = args, leaving
	defer a.close()
	root := rootCommand(a, args)
	root.SetArgs(args)
	err := leftOnTheWay(leaving, root.ExecuteContext(ctx))
	giveTerminalBack()
	if err != nil && !exit.IsSilent(err) {
		a.Tell(err, a.JSON || asksJSON(args))
	}
	return exit.Status(err)
}

// ending are the signals that end the program in an orderly way. Ctrl-\ is one to whoever waits for us; of a daemon or keeper
// it asks for what Go prints of its goroutines.
func ending(args []string) []os.Signal {
	signals := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if serves := len(args) > 0 && args[0] == "keeper" || len(args) > 1 && args[0] == "daemon" && args[1] == "serve"; !serves {
		signals = append(signals, syscall.SIGQUIT)
	}
	return signals
}

// asTmux are the arguments, behind the verb that answers tmux's commands when that is the program's name.
func asTmux(argv []string) []string {
	if len(argv) > 0 && filepath.Base(argv[0]) == "tmux" {
		return append([]string{"tmux-compat"}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// asksJSON says that arguments ask for JSON.
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

// app is what the verbs share.
type app struct {
	output.Printer
	args     []string       // of the command line
	leaving  chan os.Signal // signals kept since the terminal was taken; nil: it was not
	stdin    *os.File
	starts   bool             // the verb called may start the daemon
	waits    bool             // it waits for what another host does, and says when that is not reached
	config   *config.Settings // read on first use
	platform                  // what only some systems have
}

func newApp() *app {
	return &app{stdin: os.Stdin, Printer: output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}}
}
