package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is a group of flags with its title.
type section struct {
	title string
	flags []*pflag.Flag
}

// titleFew, titleCommon and titleGlobal are the titles of flag groups: of a verb with few flags, of flags without a group, and of the
// flags that every verb has.
const titleFew, titleCommon, titleGlobal = "Flags", "Common flags", "Global flags"

// fewFlags is the number of flags that a verb may have without groups.
const fewFlags = 10

// groups lists the other groups in their order, each with its flags. VERB:FLAG is a flag of one verb only.
var groups = []struct{ title, flags string }{
	{"Output", `compat cursor digest encoding fonts format fps idle-limit json max-line max-output max-tokens no-color no-cursor
		padding parse raw replies reveal scale speed stream styles text theme transcript trim`},
	{"Prompts", "on-input respond respond-file"},
	{"For agents", "agent approval-timeout id idle-timeout on-timeout policy yes yield"},
	{"Terminal and environment", "cols engine env env-mode env-pass isolated pipe resize rows scrollback stdin"},
	{"Limits and sandbox", "cpu memory on-difference pids sandbox"},
	{"Advanced", `each-host exec:each exec:kill foreign history notify-after observe run:kill run:session stop-on-error warm new:restore
		watch:debounce watch:ignore audit:anchor audit:head events:ack-printed events:each
		web:behind-proxy web:masked web:may web:origin web:tls-cert web:tls-key
		respond:cooldown respond:cursor-line respond:hook respond:max respond:order respond:region respond:force respond:screen
		split:area split:pinned split:stacked`},
}

// titleOf returns the group of a verb's flag.
func titleOf(verb, flag string) string {
	title := titleCommon
	for _, g := range groups {
		names := strings.Fields(g.flags)
		if slices.Contains(names, verb+":"+flag) {
			return g.title
		}
		if slices.Contains(names, flag) {
			title = g.title
		}
	}
	return title
}

// groupFlags returns the flags of c by group. The flags of every verb are the last group.
func groupFlags(c *cobra.Command) []section {
	n, all := 0, map[string][]*pflag.Flag{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			n++
		}
	})
	add := func(title string, f *pflag.Flag) {
		if !f.Hidden {
			all[title] = append(all[title], f)
		}
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help" || f.Name == "version" || !c.HasParent():
			add(titleGlobal, f)
		case n <= fewFlags+1:
			add(titleFew, f)
		default:
			add(titleOf(c.Name(), f.Name), f)
		}
	})
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { add(titleGlobal, f) })
	titles := []string{titleFew, titleCommon}
	for _, g := range groups {
		titles = append(titles, g.title)
	}
	var out []section
	for _, title := range append(titles, titleGlobal) {
		if len(all[title]) > 0 {
			out = append(out, section{title, all[title]})
		}
	}
	return out
}
