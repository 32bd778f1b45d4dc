package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
)

// verbs lists the verbs that work on Windows. Sessions need a keeper, which passes descriptors and keeps
// pseudoterminals open; longterm cannot do that on Windows yet.
var verbs = portable

// lacking is the reason why most verbs are missing on this system.
const lacking = "sessions are not supported on Windows yet"

type platform struct{}

func (platform) close() {}

func noVerb(*app, *cobra.Command) error {
	return errors.New(lacking + "; see `longterm --help` for the available verbs")
}

func (*app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp // without sessions nothing completes
}

// identifySelf returns the zero Caller: without sessions no caller is in one.
func (*app) identifySelf(context.Context) api.Caller { return api.Caller{} }

// agentHook returns a verb that does nothing, because no agent runs in a session here.
func agentHook(*app) *cobra.Command {
	return &cobra.Command{Use: "hook [EVENT] [JSON]", Short: "Report agent state to the session", RunE: func(*cobra.Command, []string) error { return nil }}
}

// hostFlags adds no flags: clients of remote daemons are not supported on Windows yet.
func hostFlags(*app, *cobra.Command) {}

func (*app) leading(args []string) []string { return args }

func (*app) selectHost(*verb, *cobra.Command, []string) error { return nil }

// listenForLeaving returns nil: the fast path takes no terminal here.
func listenForLeaving() chan os.Signal { return nil }

// outliveFileLimit does nothing: Windows has no file size limit.
func outliveFileLimit() {}

func detachedError(_ chan os.Signal, err error) error { return err }

// giveTerminalBack does nothing: the fast path takes no terminal here.
func giveTerminalBack() {}

// awaitConfig does nothing: no daemon runs here.
func (*app) awaitConfig(context.Context, string, time.Time) {}
