//go:build unix

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/daemon"
)

func init() { probeLine = daemon.ProbeLine }

// verbs lists all verbs of this system.
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
		name: "open", group: groupSessions, args: "S [PORT]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true,
		short: "Open a session's web server in the browser", build: openVerb,
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
		short: "Arrange sessions in open viewers", build: layoutVerb,
	},
	{
		name: "rename", group: groupSessions, args: "S NAME", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Rename a session", build: renameVerb,
	},
	{
		name: "label", group: groupSessions, args: "S NAME=VALUE…", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Set or remove labels of a session", build: labelVerb,
	},
	{
		name: "clients", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "List, restrict or detach a session's clients", build: clientsVerb,
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
		short: "End sessions with all their processes", build: killVerb,
	},
	{
		name: "restore", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Restart an ended session's program", build: restoreVerb,
	},
	{
		name: "rm", group: groupSessions, args: "S…", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true,
		short: "Remove sessions and their history", build: rmVerb,
	},
	{
		name: "fan", group: groupSessions, args: "(N | FILE | --agent NAME,NAME…) [flags] -- CMD…", count: cobra.ArbitraryArgs, json: true, starts: true,
		short: "Run several attempts in worktrees, compare them, keep one", build: fanVerb,
	},
	{
		name: "changes", group: groupSessions, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "List the file changes in a session's draft", build: changesVerb,
	},
	{
		name: "diff", group: groupSessions, args: "S [PATH…]", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true,
		short: "Show a draft's file changes, or compare two runs", build: diffVerb,
	},
	{
		name: "commit", group: groupSessions, args: "S [PATH…]", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true,
		short: "Apply the file changes in a session's draft", build: commitVerb,
	},
	{
		name: "discard", group: groupSessions, args: "S [PATH…]", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true,
		short: "Discard a session's draft, or changes in it", build: discardVerb,
	},
	{
		name: "undo", group: groupSessions, args: "S:N", count: cobra.ExactArgs(1), json: true, starts: true,
		short: "Undo the file changes of a command in a draft", build: undoVerb,
	},
	{
		name: "up", group: groupSessions, args: "[NAME…]", count: cobra.ArbitraryArgs, json: true, starts: true,
		short: "Start a project's sessions", build: upVerb,
	},
	{
		name: "down", group: groupSessions, args: "[NAME…]", count: cobra.ArbitraryArgs, json: true, starts: true,
		short: "End a project's sessions", build: downVerb,
	},
	{
		name: "status", group: groupSessions, count: cobra.NoArgs, json: true, starts: true,
		short: "Show the state of a project's sessions", build: statusVerb,
	},
	{
		name: "run", group: groupCommands, args: "[flags] (-c LINE | -- CMD…)", json: true, starts: true, waits: true,
		short: "Run a command in a new session and return its status", build: runVerb,
	},
	{
		name: "exec", group: groupCommands, args: "S [flags] LINE…", count: cobra.ArbitraryArgs, session: true, json: true, starts: true, waits: true,
		short: "Run a line in a session's shell and return its status", build: execVerb,
	},
	{
		name: "jobs", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "List and control jobs (commands run by run and exec)", build: jobsVerb,
	},
	{
		name: "inbox", group: groupCommands, count: cobra.NoArgs, json: true, starts: true,
		short: "List and answer what needs your attention", build: inboxVerb,
	},
	{
		name: "approvals", group: groupCommands, count: cobra.NoArgs, json: true, starts: true,
		short: "List and answer approval requests", build: approvalsVerb,
	},
	{
		name: "commands", group: groupCommands, args: "[S [N]]", count: cobra.MaximumNArgs(2), session: true, json: true, starts: true,
		short: "List commands of shells, or print one's output", build: commandsVerb,
	},
	{
		name: "errors", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "List errors with file and line from a session's output", build: errorsVerb,
	},
	{
		name: "why", group: groupCommands, args: "[S | S:N | JOB] [S:N]", count: cobra.MaximumNArgs(2), session: true, json: true, starts: true,
		short: "Explain why a command failed, by a good run of it", build: whyVerb,
	},
	{
		name: "context", group: groupCommands, args: "[S]", count: cobra.MaximumNArgs(1), session: true, json: true, starts: true,
		short: "Print a user's commands since the last call, for agents", build: contextVerb,
	},
	{
		name: "expand", group: groupCommands, args: "FILE [ARGS…]", count: cobra.MinimumNArgs(1), json: true, starts: true,
		short: "Expand a template with the output of its commands", build: expandVerb,
	},
	{
		name: "suggest", group: groupCommands, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Suggest the next step after the newest command", build: suggestVerb,
	},
	{
		name: "watch", group: groupCommands, args: "[flags] (-c LINE | [--] CMD…)", json: true, starts: true,
		short: "Run a command each time files change", build: watchVerb,
	},
	{
		name: "events", group: groupCommands, args: "[flags]", count: cobra.NoArgs, json: true, starts: true,
		short: "Print events, or completions not yet acknowledged", build: eventsVerb,
	},
	{
		name: "respond", group: groupCommands, args: "S (add | ls | rm RULE… | log) [flags]", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Answer a program's prompts by rules", build: respondVerb,
	},
	{
		name: "expect", group: groupCommands, args: "(SCRIPT [flags] | --record OUT -- CMD…)", json: true, starts: true,
		short: "Run or record a scripted dialogue with a program", build: expectVerb,
	},
	{
		name: "send", group: groupInput, args: "S TEXT", count: cobra.ExactArgs(2), session: true, json: true, starts: true,
		short: "Type text into a session", build: sendVerb,
	},
	{
		name: "put", group: groupInput, args: "S FILE…", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true, waits: true,
		short: "Store copies of files with a session, on its host", build: putVerb,
	},
	{
		name: "get", group: groupOutput, args: "S [PATH]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true, waits: true,
		short: "Copy a file from a session's host", build: getVerb,
	},
	{
		name: "keys", group: groupInput, args: "S KEY…", count: cobra.MinimumNArgs(2), session: true, json: true, starts: true,
		short: "Press keys in a session", build: keysVerb,
	},
	{
		name: "paste", group: groupInput, args: "S [FILE]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true,
		short: "Paste a file or standard input into a session", build: pasteVerb,
	},
	{
		name: "wait", group: groupInput, args: "S… --for COND…", count: cobra.MinimumNArgs(1), session: true, json: true, starts: true, waits: true,
		short: "Wait until sessions meet conditions", build: waitVerb,
	},
	{
		name: "screen", group: groupOutput, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Print a session's screen as text or image", build: screenVerb,
	},
	{
		name: "output", group: groupOutput, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true, waits: true,
		short: "Print a session's output", build: outputVerb,
	},
	{
		name: "pipe", group: groupOutput, args: "S [COMMAND]", count: cobra.RangeArgs(1, 2), session: true, json: true, starts: true,
		short: "Pipe a session's output into a command", build: pipeVerb,
	},
	{
		name: "search", group: groupOutput, args: "QUERY…", count: cobra.MinimumNArgs(1), json: true, starts: true,
		short: "Search the output of all sessions", build: searchVerb,
	},
	{
		name: "play", group: groupOutput, args: "S|FILE", count: cobra.ExactArgs(1), session: true, starts: true,
		short: "Play back a session or a recording", build: playVerb,
	},
	{
		name: "tape", group: groupOutput, args: "FILE", count: cobra.ExactArgs(1), json: true,
		short: "Run a script of keystrokes and render pictures of it", build: tapeVerb,
	},
	{
		name: "export", group: groupOutput, args: "S|FILE", count: cobra.ExactArgs(1), session: true, starts: true,
		short: "Export a session's output as a recording, text or animation", build: exportVerb,
	},
	{
		name: "audit", group: groupUpkeep, count: cobra.NoArgs, json: true, starts: true,
		short: "List and verify the audit log", build: auditVerb,
	},
	{
		name: "prune", group: groupUpkeep, count: cobra.NoArgs, json: true, starts: true,
		short: "Remove old history", build: pruneVerb,
	},
	{
		name: "daemon", there: true, group: groupUpkeep, starts: true,
		short: "Start, stop and inspect the daemon", build: daemonVerb,
	},
	{
		name: "doctor", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Diagnose problems and suggest fixes", build: doctorVerb,
	},
	{
		name: "token", group: groupUpkeep, starts: true,
		short: "Create and revoke API tokens", build: tokenVerb,
	},
	{
		name: "web", group: groupSessions, count: cobra.NoArgs, json: true, starts: true,
		short: "Show sessions in a browser", build: webVerb,
	},
	{
		name: "share", group: groupSessions, args: "S", count: cobra.ExactArgs(1), session: true, json: true, starts: true,
		short: "Create a link that shows a session to others", build: shareVerb,
	},
	{
		name: "fleet", group: groupUpkeep, starts: true,
		short: "Manage sessions of several machines as a fleet", build: fleetVerb,
	},
	{
		name: "mcp", there: true, group: groupUpkeep, count: cobra.NoArgs, starts: true,
		short: "Serve agents over the Model Context Protocol (MCP)", build: mcpVerb,
	},
	{
		name: "tmux-compat", group: groupUpkeep, args: "[tmux's arguments]", starts: true,
		short: "Run tmux commands on longterm sessions", build: tmuxcompatVerb,
	},
	{
		name: "hosts", group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "List, set up and disconnect remote hosts", build: hostsVerb,
	},
	{
		name: "bridge", group: groupUpkeep, count: cobra.NoArgs, starts: true, hidden: true,
		short: "Pass connections on to the daemon (started by ssh)", build: bridgeVerb,
	},
	{
		name: "keeper", group: groupUpkeep, count: cobra.ArbitraryArgs, hidden: true,
		short: "Hold sessions (started automatically)", build: keeperVerb,
	},
}, portable...)

// platform is the state that the verbs share on systems with keepers.
type platform struct {
	backend *backend        // created on first use
	agent   string          // label of the calling agent; empty: from the environment
	host    string          // host whose daemon is used; empty: this host
	named   []string        // all given hosts, in order
	given   bool            // the host was given before the verb
	ctx     context.Context // context of the called verb
	install bool            // install longterm on a host without it
}

func (p *platform) close() {
	if p.backend != nil {
		p.backend.close()
	}
}

// lacking is empty: all verbs are available.
const lacking = ""

// noVerb runs longterm without a verb: it opens the viewer.
func noVerb(a *app, cmd *cobra.Command) error { return a.viewDefault(cmd) }
