package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/help"
	"github.com/longterm-dev/longterm/cmd/internal/topics"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// verb is a row of the table of verbs. Registration, help, completion, docs/cli and the man pages derive from it. The
// file named after the verb implements it, and a script in testdata/script tests it (see verbs_test.go).
type verb struct {
	name, alias string
	group       group
	args        string               // as shown in the usage line
	count       cobra.PositionalArgs // allowed number of arguments; nil: any number, or the verb has subcommands
	short       string
	session     bool // the first argument is a session: names are completed, and onSession resolves it
	json        bool // has a --json flag
	starts      bool // starts the daemon if it is not running
	hidden      bool
	hosts       bool // accepts several hosts
	waits       bool // waits for a session with its own limits: no timeout for a silent host
	there       bool // concerns the host's files and processes: with --host it runs on that host
	// build sets the flags, the long text and RunE.
	build func(*app, *cobra.Command)
}

// group is a section of the help.
type group string

const (
	groupCommon   group = "Most used:"
	groupSessions group = "Sessions:"
	groupCommands group = "Commands and dialogues:"
	groupInput    group = "Input and waiting:"
	groupOutput   group = "Screens and output:"
	groupUpkeep   group = "Upkeep:"
)

var groups = []group{groupCommon, groupSessions, groupCommands, groupInput, groupOutput, groupUpkeep}

// mostUsed lists the verbs that the help lists first.
var mostUsed = []string{"new", "attach", "ls", "run", "exec", "view", "web"}

// portable lists the verbs that work without a daemon, on every system.
var portable = []verb{
	{
		name: "render", group: groupOutput, args: "[FILE]", count: cobra.MaximumNArgs(1), json: true,
		short: "Render terminal output to a screen, without a daemon", build: renderVerb,
	},
	{
		name: "bench", there: true, group: groupUpkeep,
		short: "Measure longterm on this machine", build: benchVerb,
	},
	{
		name: "relay", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Run a relay server for shared sessions", build: relayVerb,
	},
	{
		name: "config", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Show, check and change the configuration", build: configVerb,
	},
	{
		name: "policy", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Check, show, test and trust policy rules", build: policyVerb,
	},
	{
		name: "agent", there: true, group: groupUpkeep,
		short: "Set up agents' programs and report their state", build: agentVerb,
	},
	{
		name: "version", there: true, group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Print the version", build: versionVerb,
	},
}

// command returns the cobra command of v.
func (v *verb) command(a *app) *cobra.Command {
	c := &cobra.Command{Use: v.name, Short: v.short, Args: v.count, Hidden: v.hidden, GroupID: string(v.group)}
	if slices.Contains(mostUsed, v.name) {
		c.GroupID = string(groupCommon)
	}
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
		if hint := help.OptionalValueHint(cmd, a.args); hint != "" {
			fmt.Fprintf(a.Stderr, "longterm: %s\n", hint)
		}
		return a.selectHost(v, cmd, args)
	}
	v.build(a, c)
	if v.json && c.Flags().Lookup("json") == nil {
		a.JSONFlag(c)
	}
	return c
}

// addVerbs adds only the called verb, or all verbs for help and completion: building all of them takes longer than most
// verbs run.
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
	checkHelp(a, root)
}

// checkHelp makes `help` of an unknown verb a usage error.
func checkHelp(a *app, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "help" })
	if i < 0 {
		return
	}
	c := root.Commands()[i]
	show := c.Run
	c.Long += "\n\nTopics, whose pages are part of the program:\n" + topics.List()
	c.Run, c.RunE = nil, func(cmd *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		if len(args) == 1 && args[0] == "topics" {
			_, err := io.WriteString(a.Stdout, topics.List())
			return err
		}
		if topic, ok := topics.Find(strings.Join(args, " ")); ok {
			var usage strings.Builder // of the verb with the topic's name
			if found != root {
				found.SetOut(&usage)
				_ = found.Help()
				usage.WriteString("\n")
			}
			return topic.Print(a.Stdout, usage.String())
		}
		switch {
		case err != nil:
			return exit.Usagef("%w; see `longterm --help` and `longterm help topics`", err)
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
		Short: "Keep terminal sessions alive for people and programs",
		Long: `longterm runs programs in terminal sessions that survive closed windows, lost connections and restarts of the
daemon. People attach to them; programs and agents start, read and control them.

Without a verb it opens the viewer, and starts a shell if there is no session.
S stands for a session: its id, its name, or a unique prefix of either.

  longterm new --name work       # start a session
  longterm attach work           # use it in this terminal

Exit statuses are those of the command for run and exec, else 0 for success (` + "`longterm help exit-status`" + `).`,
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
	root.SetVersionTemplate(fastpath.VersionLine()) // contains no template braces
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() && called != "" && called[0] != '-' { // the flags belong to an unknown verb
			return unknownVerb(cmd, called)
		}
		return exit.Usagef("%w; see `%s --help`", help.FlagError(cmd, err), cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { // only without a verb; each verb has its own
		a.starts = true
		return a.selectHost(&verb{hosts: true}, cmd, args)
	}
	root.PersistentFlags().Var(&a.Color, "color", "colour in tables: auto, always or never")
	hostFlags(a, root)
	addVerbs(a, root, called)
	help.Install(root, mostUsed)
	wrapArgs(a, root)
	return root
}

// wrapArgs turns wrong arguments into usage errors that show the correct usage.
func wrapArgs(a *app, c *cobra.Command) {
	for _, sub := range c.Commands() {
		wrapArgs(a, sub)
	}
	check := c.Args
	if !c.HasParent() {
		return // its arguments are verbs
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
		if err != nil {
			err = help.ArgsError(cmd, check, args, err)
		} else { // cobra checks these later, with errors that exit does not recognise
			err = errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
			if err != nil {
				err = help.GroupError(err)
			}
		}
		if hint := help.OptionalValueHint(cmd, a.args); err != nil && hint != "" {
			return exit.Usagef("%w; %s", err, hint)
		}
		if err != nil {
			return exit.Usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// unknownVerb returns the error for a word that is not a verb, with the verb probably meant.
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
	for _, e := range foreignVerbs {
		if e.verb == word && !cmd.HasParent() {
			return exit.Usagef("unknown verb %q; %s; see `%s --help`", word, e.here, cmd.CommandPath())
		}
	}
	if near := suggestname.Nearest(word, names); near != "" {
		return exit.Usagef("unknown verb %q; did you mean `%s %s`? See `%s --help`", word, cmd.CommandPath(), near, cmd.CommandPath())
	}
	return exit.Usagef("unknown verb %q; see `%s --help`", word, cmd.CommandPath())
}

// foreignVerbs lists verbs of other programs with the longterm verbs to use instead.
var foreignVerbs = []struct{ verb, here string }{
	{"tail", "`longterm output S -f` follows a session's output, and `--from line:-20` prints the last lines"},
	{"logs", "`longterm output S` prints a session's output, with -f new output too"},
	{"log", "`longterm output S` prints a session's output, with -f new output too"},
	{"cat", "`longterm output S` prints a session's output, and `longterm screen S` its screen"},
	{"notify", "`longterm run --notify` and `longterm watch --notify` notify when a command has ended; configure it with `longterm config` (notify)"},
	{"ps", "`longterm ls` lists sessions, and `longterm jobs` their jobs"},
	{"stop", "`longterm kill S` ends a session's processes"},
	{"start", "`longterm new` starts a session, and `longterm restore S` an ended one"},
	{"detach", "`longterm clients` lists and detaches clients"},
	{"kill-session", "use `longterm kill S`" + tmuxHint},
	{"kill-server", "use `longterm daemon stop`" + tmuxHint},
	{"new-session", "use `longterm new`" + tmuxHint},
	{"attach-session", "use `longterm attach S`" + tmuxHint},
	{"list-sessions", "use `longterm ls`" + tmuxHint},
	{"has-session", "use `longterm info S`" + tmuxHint},
	{"send-keys", "use `longterm send S TEXT -e` and `longterm keys S KEY`" + tmuxHint},
	{"capture-pane", "use `longterm screen S`" + tmuxHint},
	{"rename-session", "use `longterm rename S NAME`" + tmuxHint},
	{"split-window", "use `longterm layout`" + tmuxHint},
}

// tmuxHint follows the suggestion for a tmux command.
const tmuxHint = ", or tmux's own command with `longterm tmux-compat`"

// lacksVerb returns the error for a word that is not a verb on a system with the portable verbs only.
func lacksVerb(word, lacking string) error {
	names := make([]string, len(portable))
	for i := range portable {
		names[i] = portable[i].name
	}
	slices.Sort(names)
	return exit.Usagef("`longterm %s`: not available (%s); available: %s", word, lacking, strings.Join(names, ", "))
}
