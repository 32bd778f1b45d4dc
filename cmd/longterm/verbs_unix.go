//go:build unix

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/daemon"
)

func init() { probeLine = daemon.ProbeLine }

// verbs are all verbs of this system.
var verbs = append([]verb{
	{
		name: "new", group: groupSessions, args: "[flags] [-- CMD…]", json: true, starts: true,
		short: "Start a session and print its id", build: newVerb,
	},
	{
		name: "ls", alias: "list", group: groupSessions, count: cobra.NoArgs, json: true, starts: true,
		short: "List sessions", build: lsVerb,
	},
	{
		name: "info", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Describe a session", build: infoVerb,
	},
	{
		name: "attach", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, starts: true,
		short: "Attach this terminal to a session", build: attachVerb,
	},
	{
		name: "view", group: groupSessions, args: "[S…]", count: cobra.ArbitraryArgs, session: true, hosts: true, starts: true,
		short: "Show sessions in panes", build: viewVerb,
	},
	{
		name: "layout", group: groupSessions, starts: true,
		short: "Arrange sessions in the viewers that are open", build: layoutVerb,
	},
	{
		name: "rename", group: groupSessions, args: "S NAME", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Give a session another name", build: renameVerb,
	},
	{
		name: "label", group: groupSessions, args: "S NAME=VALUE…", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Label a session; an empty VALUE removes the label", build: labelVerb,
	},
	{
		name: "clients", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "List who is attached to a session; have them look only, or leave", build: clientsVerb,
	},
	{
		name: "resize", group: groupSessions, args: "S COLSxROWS", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Change a session's size in cells", build: resizeVerb,
	},
	{
		name: "signal", group: groupSessions, args: "S SIGNAL", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Send a signal to a session's processes", build: signalVerb,
	},
	{
		name: "kill", group: groupSessions, args: "S…", count: cobra.ArbitraryArgs, session: true, json: true, starts: true,
		short: "End sessions' processes and all their descendants", build: killVerb,
	},
	{
		name: "restore", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Start the process of an ended session again, below its history", build: restoreVerb,
	},
	{
		name: "rm", group: groupSessions, args: "S…", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true,
		short: "Forget sessions and their history", build: rmVerb,
	},
	{
		name: "up", group: groupSessions, args: "[NAME…]", count: cobra.ArbitraryArgs, json: true, starts: true,
		short: "Have the sessions of a project's file run", build: upVerb,
	},
	{
		name: "down", group: groupSessions, args: "[NAME…]", count: cobra.ArbitraryArgs, json: true, starts: true,
		short: "End the sessions of a project", build: downVerb,
	},
	{
		name: "status", group: groupSessions, count: cobra.NoArgs, json: true, starts: true,
		short: "Say how the sessions of a project are", build: statusVerb,
	},
	{
		name: "run", group: groupCommands, args: "[flags] (-c LINE | -- CMD…)", json: true, starts: true, waits: true,
		short: "Run a command in a session of its own and exit with its status", build: runVerb,
	},
	{
		name: "exec", group: groupCommands, args: "S [flags] LINE…", count: cobra.ArbitraryArgs, session: true, json: true, starts: true, waits: true,
		short: "Run a line in a session's shell and exit with its status", build: execVerb,
	},
	{
		name: "jobs", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "List commands and lines that were run, in the background too", build: jobsVerb,
	},
	{
		name: "approvals", group: groupCommands, count: cobra.NoArgs, json: true, starts: true,
		short: "See and answer what a person has to allow", build: approvalsVerb,
	},
	{
		name: "commands", group: groupCommands, args: "[S [N]]", count: cobra.MaximumNArgs(2), session: true, json: true, starts: true,
		short: "List the commands that shells ran, or print what one printed", build: commandsVerb,
	},
	{
		name: "errors", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "List the errors that a session printed as places in files, and open them", build: errorsVerb,
	},
	{
		name: "context", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "Print what a person ran since the last asking, for an agent", build: contextVerb,
	},
	{
		name: "expand", group: groupCommands, args: "FILE [ARGS…]", count: cobra.MinimumNArgs(1), json: true, starts: true,
		short: "Print a template with what its commands print", build: expandVerb,
	},
	{
		name: "suggest", group: groupCommands, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Suggest what to do after a session's newest command", build: suggestVerb,
	},
	{
		name: "watch", group: groupCommands, args: "[flags] (-c LINE | [--] CMD…)", json: true, starts: true,
		short: "Run a command again whenever files change", build: watchVerb,
	},
	{
		name: "events", group: groupCommands, args: "[flags]", count: cobra.NoArgs, json: true, starts: true,
		short: "Print what happens, or what ended since it was last acknowledged", build: eventsVerb,
	},
	{
		name: "respond", group: groupCommands, args: "S (add | ls | rm RULE… | log) [flags]", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Answer the questions of a session's program by rules", build: respondVerb,
	},
	{
		name: "expect", group: groupCommands, args: "(SCRIPT [flags] | --record OUT -- CMD…)", json: true, starts: true,
		short: "Run a dialogue with a program from a script, or record one", build: expectVerb,
	},
	{
		name: "send", group: groupInput, args: "S TEXT", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Type text as it is", build: sendVerb,
	},
	{
		name: "keys", group: groupInput, args: "S KEY…", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Press keys", build: keysVerb,
	},
	{
		name: "paste", group: groupInput, args: "S [FILE]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true,
		short: "Paste a file, or standard input", build: pasteVerb,
	},
	{
		name: "wait", group: groupInput, args: "S… --for COND…", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true, waits: true,
		short: "Wait for conditions", build: waitVerb,
	},
	{
		name: "screen", group: groupOutput, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Print a session's screen, or a picture of it", build: screenVerb,
	},
	{
		name: "output", group: groupOutput, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true, waits: true,
		short: "Print a session's output", build: outputVerb,
	},
	{
		name: "pipe", group: groupOutput, args: "S [COMMAND]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true,
		short: "Give what a session prints to a command", build: pipeVerb,
	},
	{
		name: "search", group: groupOutput, args: "QUERY…", count: cobra.MinimumNArgs(1), json: true, starts: true,
		short: "Search the output of all sessions", build: searchVerb,
	},
	{
		name: "play", group: groupOutput, args: "S|FILE", count: cobra.ExactArgs(1), session: true, starts: true,
		short: "Play a session's output, or a recording", build: playVerb,
	},
	{
		name: "tape", group: groupOutput, args: "FILE", count: cobra.ExactArgs(1), json: true,
		short: "Play a script of typing and make pictures of it", build: tapeVerb,
	},
	{
		name: "export", group: groupOutput, args: "S|FILE", count: cobra.ExactArgs(1), session: true, starts: true,
		short: "Export a session's output as a recording, text or animation", build: exportVerb,
	},
	{
		name: "audit", group: groupUpkeep, count: cobra.NoArgs, json: true, starts: true,
		short: "List what was asked, decided and done, and check that the list is whole", build: auditVerb,
	},
	{
		name: "prune", group: groupUpkeep, count: cobra.NoArgs, json: true, starts: true,
		short: "Drop old history", build: pruneVerb,
	},
	{
		name: "daemon", there: true, group: groupUpkeep, starts: true,
		short: "Start, stop and inspect the daemon", build: daemonVerb,
	},
	{
		name: "doctor", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Say what is wrong and how to fix it", build: doctorVerb,
	},
	{
		name: "token", group: groupUpkeep, starts: true,
		short: "Make and take back tokens for the API over TCP", build: tokenVerb,
	},
	{
		name: "web", group: groupSessions, count: cobra.NoArgs, json: true, starts: true,
		short: "Show every session in a browser", build: webVerb,
	},
	{
		name: "share", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Make a link that shows a session in a browser to others", build: shareVerb,
	},
	{
		name: "fleet", group: groupUpkeep, starts: true,
		short: "Have several machines' sessions in one place", build: fleetVerb,
	},
	{
		name: "mcp", there: true, group: groupUpkeep, count: cobra.NoArgs, starts: true,
		short: "Serve agents: the Model Context Protocol on standard input and output, or over HTTP", build: mcpVerb,
	},
	{
		name: "tmux-compat", group: groupUpkeep, args: "[tmux's arguments]", starts: true,
		short: "Answer tmux's commands, for programs that drive tmux", build: tmuxcompatVerb,
	},
	{
		name: "hosts", group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "List other hosts, install longterm there, end connections", build: hostsVerb,
	},
	{
		name: "bridge", group: groupUpkeep, count: cobra.NoArgs, starts: true, hidden: true,
		short: "Pass connections on to the daemon (started by ssh)", build: bridgeVerb,
	},
	{
		name: "keeper", group: groupUpkeep, count: cobra.ArbitraryArgs, hidden: true,
		short: "Hold sessions (started by itself)", build: keeperVerb,
	},
}, portable...)

// platform is what the verbs share on systems with keepers.
type platform struct {
	backend *backend        // made on first use
	agent   string          // label of the agent that asks; empty: that of the environment
	host    string          // whose daemon is asked; empty: this host's
	named   []string        // all hosts that were given, in order
	given   bool            // the host stands before the verb
	ctx     context.Context // of the verb that is called
	install bool            // longterm, on a host that has none
}

func (p *platform) close() {
	if p.backend != nil {
		p.backend.close()
	}
}

// lacking is nothing: all verbs are there.
const lacking = ""

// noVerb is longterm by itself: the viewer.
func noVerb(a *app, cmd *cobra.Command) error { return a.viewDefault(cmd) }
