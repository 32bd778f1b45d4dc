//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// withoutJSON lists the verbs without JSON output, with the reason. Their errors are JSON nevertheless.
var withoutJSON = map[string]string{
	"attach": "is the user's terminal", "view": "is the user's terminal", "play": "is drawn on the user's terminal",
	"config edit": "is the user's editor", "export": "writes formats of its own", "mcp": "speaks a protocol of its own",
	"completion bash": "a script for a shell", "completion fish": "a script for a shell", "completion zsh": "a script for a shell",
	"completion powershell": "a script for a shell", "help": "is help", "tmux-compat": "prints what tmux does",
	"agent hook": "prints nothing, whatever happens", "fleet simulate": "says when it is there, and when it has left", "bench": "hands its arguments on to ltbench",
}

// TestEveryVerbHasJSON checks that every verb that acts has --json, or is in the list above.
//
// FEATURES: R86
func TestEveryVerbHasJSON(t *testing.T) {
	left := maps.Clone(withoutJSON)
	delete(left, "help")
	everyVerb(t, func(c *cobra.Command, name string) {
		has := c.Flags().Lookup("json") != nil || c.InheritedFlags().Lookup("json") != nil
		_, listed := withoutJSON[name]
		if has == listed {
			t.Errorf("%s: --json %v, in the list of those without it %v", name, has, listed)
		}
		delete(left, name)
	})
	for name := range left {
		t.Errorf("verb %s does not exist any more", name)
	}
}

// everyVerb calls f with every verb that does something, and its name without the program's.
func everyVerb(t *testing.T, f func(c *cobra.Command, name string)) {
	t.Helper()
	n := 0
	root := rootCommand(newApp(), nil)
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		group := c.HasAvailableSubCommands() && (c.Args == nil || c.Parent() == nil) || isGroup(c)
		if !group {
			n++
			f(c, strings.TrimPrefix(c.CommandPath(), "longterm "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if n < 60 {
		t.Fatalf("only %d verbs", n)
	}
}

// isGroup reports whether a verb only groups others: it has a row without arguments, and verbs.
func isGroup(c *cobra.Command) bool {
	if c.Parent() == nil || !c.HasAvailableSubCommands() {
		return false
	}
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == c.Name() })
	return c.Name() == "completion" || i >= 0 && verbs[i].count == nil
}

// takesAll are the verbs that take any arguments and do something with them.
var takesAll = map[string]bool{"search": true, "watch": true}

// TestErrorsOfEveryVerbAreJSON checks that every verb with --json reports errors as JSON: an object of one schema, with
// a code of the table, on standard error, and nothing on standard output.
//
// FEATURES: R86
func TestErrorsOfEveryVerbAreJSON(t *testing.T) {
	i := e2e.New(t)
	codes := map[api.Code]bool{}
	for row := range api.Codes {
		codes[row.Code] = true
	}
	everyVerb(t, func(c *cobra.Command, name string) {
		if strings.HasPrefix(name, "completion") || name == "help" {
			return
		}
		wrong := [][]string{{"--no-such-flag"}}
		if name != "tmux-compat" && name != "agent hook" { // their arguments are another program's
			wrong = append(wrong, slices.Repeat([]string{"no such thing"}, 9))
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			number := slices.Contains([]string{"int", "uint", "uint64", "duration", "float64"}, f.Value.Type())
			if number && !strings.Contains(wrong[len(wrong)-1][0], "=") { // one of them represents all
				wrong = append(wrong, []string{"--" + f.Name + "=nonsense"})
			}
		})
		if !tier.IsFull() {
			wrong = wrong[:1]
		}
		for _, args := range wrong {
			if takesAll[name] && len(args) > 1 {
				continue
			}
			out, err, code := i.Try(slices.Concat(strings.Fields(name), []string{"--json"}, args)...)
			var e api.Error
			d := json.NewDecoder(strings.NewReader(err))
			d.DisallowUnknownFields()
			if decoded := d.Decode(&e); decoded != nil || !codes[e.Code] || e.Message == "" || out != "" || code == 0 || d.More() {
				t.Errorf("%s %q: exit status %d, %v in %q, output %q", name, args, code, decoded, err, out)
			}
		}
	})
}
