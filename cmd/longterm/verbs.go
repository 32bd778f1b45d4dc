package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// verb is a row of the table of verbs. From it come registration, help, completion, docs/cli and the man pages; what it
// does stands in a file of the verb's name, and a script in testdata/script drives it (verbs_test.go).
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
		name: "bench", group: groupUpkeep,
		short: "Measure longterm on this machine", build: benchVerb,
	},
	{
		name: "config", group: groupUpkeep, count: cobra.NoArgs, json: true,
		short: "Show, check and change the configuration", build: configVerb,
	},
	{
		name: "version", group: groupUpkeep, count: cobra.NoArgs, json: true,
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
	c.PersistentPreRun = func(*cobra.Command, []string) { a.starts = v.starts }
	v.build(a, c)
	if v.json {
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
}
