package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/session/spelling"
)

// verb is a row of the table of verbs. From it come registration, help, completion, docs/cli and the man pages;
// what it does stands in a file of the verb's name, and a script in testdata/script drives it (verbs_test.go).
type verb struct {
	name, alias string
	group       group
	args        string               // as usage shows them
	count       cobra.PositionalArgs // how many there may be; nil: any, or verbs of its own
	short       string
	session     bool // the first argument is a session: names are completed, and onSession finds it
	json        bool // it has --json
	starts      bool // it starts the daemon when none runs
	hidden      bool
	hosts       bool // it can be about several hosts at once
	waits       bool // it waits for what a session does, by its own limits: a host that does not answer is not given up
	there       bool // it is about the host itself, its files and processes: with --host it is run there
	// build adds flags, the long text, and what runs.
	build func(*app, *cobra.Command)
}

// group is a part of help.
type group string

const (
	groupSessions group = "Sessions:"
	groupCommands group = "Commands and dialogues:"
	groupInput    group = "Input and waiting:"
	groupOutput   group = "Screens and output:"
	groupUpkeep   group = "Upkeep:"
)

var groups = []group{groupSessions, groupCommands, groupInput, groupOutput, groupUpkeep}

// portable are the verbs that work without a daemon, on every system.
var portable = []verb{
	{
		name: "render", group: groupOutput, args: "[FILE]", count: cobra.MaximumNArgs(1), json: true,
		short: "Turn terminal output into a screen, without a daemon", build: renderVerb,
	},
	{
		name: "bench", there: true, group: groupUpkeep,
		short: "Measure longterm on this machine", build: benchVerb,
	},
	{
		name: "relay", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Pass shared sessions on, sealed, for machines that nobody can reach", build: relayVerb,
	},
	{
		name: "config", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Show, check and change the configuration", build: configVerb,
	},
	{
		name: "policy", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Say what may run: check lines, show, try and trust files of rules", build: policyVerb,
	},
	{
		name: "agent", there: true, group: groupUpkeep,
		short: "Put longterm into agents' programs, and tell models how it is used", build: agentVerb,
	},
	{
		name: "version", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Print the version", build: versionVerb,
	},
}

// command is the verb's command.
func (v *verb) command(a *app) *cobra.Command {
	c := &cobra.Command{Use: v.name, Short: v.short, Args: v.count, Hidden: v.hidden, GroupID: string(v.group)}
	if v.args != "" {
		c.Use += " " + v.args
	}
	if v.alias != "" {
		c.Aliases = []string{v.alias}
	}
	if v.session {
		c.ValidArgsFunction = a.completeSession
	}
	c.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		a.starts = v.starts
		return a.place(v, cmd, args)
	}
	v.build(a, c)
	if v.json && c.Flags().Lookup("json") == nil {
		a.JSONFlag(c)
	}
	return c
}

// addVerbs adds the verb that is called, or all of them for help and completion:
// making two dozen commands takes longer than most of them run.
func addVerbs(a *app, root *cobra.Command, called string) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: string(g), Title: string(g)})
	}
	root.SetHelpCommandGroupID(string(groupUpkeep))
	root.SetCompletionCommandGroupID(string(groupUpkeep))
	if i := slices.IndexFunc(verbs, func(v verb) bool { return called != "" && (v.name == called || v.alias == called) }); i >= 0 {
		root.AddCommand(verbs[i].command(a))
		return
	}
	for i := range verbs {
		root.AddCommand(verbs[i].command(a))
	}
	checkHelp(root)
}

// checkHelp makes `help` of a verb that does not exist a usage error.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "help" })
	if i < 0 {
		return
	}
	help := root.Commands()[i]
	show := help.Run
	help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		switch {
		case err != nil:
			return exit.Usagef("%w; see `longterm --help`", err)
		case len(rest) > 0 && found == root:
			return unknownVerb(root, rest[0])
		case len(rest) > 0:
			return exit.Usagef("%q: no such command of `%s`; see `%[2]s --help`", rest[0], found.CommandPath())
		}
		show(cmd, args)
		return nil
	}
}

func rootCommand(a *app, args []string) *cobra.Command {
	called := ""
	if len(args) > 0 {
		called = args[0]
	}
	root := &cobra.Command{
		Use:   "longterm",
		Short: "Terminals that outlive everything, for people and programs",
		Long: `longterm keeps terminals alive and makes them usable by programs.

Without a verb it opens the viewer, starting a shell if there is no session.
A session S is named by its id, its name, or a unique prefix of either.

Exit status: 0 success, 1 failure, 2 wrong usage, 3 no such session,
4 conflict (ambiguous, name taken, already ended), 5 daemon unreachable,
124 timeout, 130 interrupted; run and exec exit with the command's own status,
128+N when signal N ended it, or with 111 to 123 when it was refused (reasons in
docs/errors.md), 125 when longterm itself failed or the status is unknown (0 and a
note for a REPL's line), 126 when the program cannot be run, 127 when it does not exist. With --json errors are JSON too, on standard error.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return noVerb(a, cmd) },
	}
	root.Version = version()
	root.SetVersionTemplate(shortcut.VersionLine()) // which has no braces
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() && called != "" && called[0] != '-' { // its flags are of a verb that there is not
			return unknownVerb(cmd, called)
		}
		return exit.Usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { // of no verb; each verb has its own
		a.starts = true
		return a.place(&verb{hosts: true}, cmd, args)
	}
	hostFlags(a, root)
	addVerbs(a, root, called)
	wrapArgs(root)
	return root
}

// wrapArgs makes wrong arguments usage errors that name the way out.
func wrapArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
	check := c.Args
	if !c.HasParent() {
		return // its arguments are a verb
	}
	if check == nil && c.HasSubCommands() { // a group of verbs does nothing by itself
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		}
	}
	if check == nil {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err != nil && cmd.HasSubCommands() && len(args) > 0 {
			return unknownVerb(cmd, args[0])
		}
		if err == nil { // cobra looks at these later, and its errors are of no kind
			err = errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		}
		if err != nil {
			return exit.Usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// unknownVerb is a word that is no verb, with the one that was probably meant.
func unknownVerb(cmd *cobra.Command, word string) error {
	if lacking != "" && !cmd.HasParent() {
		return lacksVerb(word, lacking)
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	slices.Sort(names)
	for _, e := range elsewhere {
		if e.verb == word && !cmd.HasParent() {
			return exit.Usagef("unknown verb %q; %s; see `%s --help`", word, e.here, cmd.CommandPath())
		}
	}
	if near := spelling.Nearest(word, names); near != "" {
		return exit.Usagef("unknown verb %q; `%s %s` is the nearest; see `%s --help`", word, cmd.CommandPath(), near, cmd.CommandPath())
	}
	return exit.Usagef("unknown verb %q; see `%s --help`", word, cmd.CommandPath())
}

// elsewhere are verbs of other programs, and what does that here.
var elsewhere = []struct{ verb, here string }{
	{"tail", "`longterm output S -f` follows what a session prints, and `--from line:-20` prints the last lines"},
	{"logs", "`longterm output S` prints what a session printed, with -f also what comes"},
	{"log", "`longterm output S` prints what a session printed, with -f also what comes"},
	{"cat", "`longterm output S` prints what a session printed, and `longterm screen S` what it shows"},
	{"notify", "`longterm run --notify` and `longterm watch --notify` tell when a command has ended, and `longterm config` says how (notify)"},
	{"ps", "`longterm ls` lists sessions, and `longterm jobs` what is run in them"},
	{"stop", "`longterm kill S` ends a session's processes"},
	{"start", "`longterm new` starts a session, and `longterm restore S` one that has ended"},
	{"detach", "`longterm clients` shows who is attached, and detaches them"},
	{"kill-session", "`longterm kill S` does that" + asTmuxSays},
	{"kill-server", "`longterm daemon stop` does that" + asTmuxSays},
	{"new-session", "`longterm new` does that" + asTmuxSays},
	{"attach-session", "`longterm attach S` does that" + asTmuxSays},
	{"list-sessions", "`longterm ls` does that" + asTmuxSays},
	{"has-session", "`longterm info S` says so" + asTmuxSays},
	{"send-keys", "`longterm send S TEXT -e` and `longterm keys S KEY` do that" + asTmuxSays},
	{"capture-pane", "`longterm screen S` does that" + asTmuxSays},
	{"rename-session", "`longterm rename S NAME` does that" + asTmuxSays},
	{"split-window", "`longterm layout` does that" + asTmuxSays},
}

// asTmuxSays is for who knows tmux's commands.
const asTmuxSays = ", and `longterm tmux-compat` takes tmux's commands as they are"

// lacksVerb is a word that is no verb on a system that has the portable ones only: it may be one elsewhere.
func lacksVerb(word, lacking string) error {
	names := make([]string, len(portable))
	for i := range portable {
		names[i] = portable[i].name
	}
	slices.Sort(names)
	return exit.Usagef("there is no `longterm %s` here: %s; there are %s", word, lacking, strings.Join(names, ", "))
}
