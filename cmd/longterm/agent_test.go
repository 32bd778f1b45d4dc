//go:build unix

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/integrations"
)

// maxSkill limits the text that a model must read, in bytes: 900 tokens.
const maxSkill = 900 * 4

// TestSkillNamesWhatThereIs checks that the skill text names existing verbs, and existing flags of the verb on each
// line.
// FEATURES: R106
func TestSkillNamesWhatThereIs(t *testing.T) {
	text := integrations.SkillText
	if len(text) > maxSkill {
		t.Errorf("%d bytes, more than %d", len(text), maxSkill)
	}
	root := rootCommand(newApp(), nil)
	calls := regexp.MustCompile("`longterm ([^`]*)`").FindAllStringSubmatch(text, -1)
	if len(calls) < 15 {
		t.Fatalf("%d calls found", len(calls))
	}
	flag := regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`)
	for _, call := range calls {
		c, rest := root, strings.Fields(strings.ReplaceAll(call[1], "\n", " "))
		for len(rest) > 0 {
			i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == rest[0] })
			if i < 0 {
				break
			}
			c, rest = c.Commands()[i], rest[1:]
		}
		if c == root {
			t.Errorf("`longterm %s`: there is no such verb", call[1])
			continue
		}
		line, _, _ := strings.Cut(" "+strings.Join(rest, " "), " -- ") // the rest is another program's
		line = regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "X")
		for _, f := range flag.FindAllStringSubmatch(line, -1) {
			if name := strings.TrimPrefix(f[1], "--"); name != f[1] && c.Flags().Lookup(name) == nil || name == f[1] && c.Flags().ShorthandLookup(f[1][1:]) == nil {
				t.Errorf("`longterm %s`: %s has no %s", call[1], c.CommandPath(), f[1])
			}
		}
	}
	for _, name := range []string{"json", "max-output"} { // named for several verbs
		for _, verb := range []string{"run", "exec", "output"} {
			if c, _, err := root.Find([]string{verb}); err != nil || c.Flags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", verb, name)
			}
		}
	}
}

func TestCalledTmux(t *testing.T) {
	for _, c := range []struct{ argv, want []string }{
		{[]string{"/x/tmux", "ls"}, []string{"tmux-compat", "ls"}},
		{[]string{"longterm", "ls"}, []string{"ls"}},
		{nil, nil},
	} {
		if got := asTmux(c.argv); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.argv, got)
		}
	}
}
