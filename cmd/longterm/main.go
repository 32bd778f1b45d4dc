// Command longterm keeps terminals alive and makes them usable by programs.
//
// Each verb has a file of its own. wire.go is the only place that knows every
// package; verbs get what they need from app.
package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is the whole program; it returns the exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks twice is obeyed at once
	a := newApp()
	defer a.close()
	root := rootCommand(a, args)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !exit.IsSilent(err) {
		a.Tell(err, a.JSON || asksJSON(args))
	}
	return exit.Status(err)
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
