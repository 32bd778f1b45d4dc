package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
)

// verbs are what works on Windows. Sessions need a keeper, which needs descriptors
// that can be passed and pseudoterminals that can be kept: not there yet, and not faked.
var verbs = portable

// lacking says what this system lacks, and so why most verbs are not there.
const lacking = "sessions are not supported on Windows yet"

type platform struct{}

func (platform) close() {}

func noVerb(*app, *cobra.Command) error {
	return errors.New(lacking + "; `longterm --help` lists what there is")
}

func (*app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp // there are none
}

// seenAs is nobody in a session: there are none.
func (*app) seenAs(context.Context) api.Caller { return api.Caller{} }

// agentHook has no session to tell anything: it is done, as everywhere outside of one.
func agentHook(*app) *cobra.Command {
	return &cobra.Command{Use: "hook [EVENT] [JSON]", Short: "Tell the session how the agent in it gets on; for agents' hooks", RunE: func(*cobra.Command, []string) error { return nil }}
}

// There is no way to other hosts: clients of their daemons are not there yet.
func hostFlags(*app, *cobra.Command) {}

func (*app) leading(args []string) []string { return args }

func (*app) place(*verb, *cobra.Command, []string) error { return nil }

// listenForLeaving has nothing to listen for: no terminal is taken here.
func listenForLeaving() chan os.Signal { return nil }

// outliveFileLimit has no limit to outlive.
func outliveFileLimit() {}

func leftOnTheWay(_ chan os.Signal, err error) error { return err }

// giveTerminalBack has nothing to give: no terminal is taken here.
func giveTerminalBack() {}

// awaitConfig waits for no daemon.
func (*app) awaitConfig(context.Context, string, time.Time) {}
