package config

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// docsHead is the text before the tables of docs/config.md.
const docsHead = `# Configuration

Generated from the table in session/config.

longterm works without a configuration file. One is read from ` + "`$XDG_CONFIG_HOME/longterm/config.toml`" + `
(` + "`~/.config/longterm/config.toml`" + `); with ` + "`LONGTERM_DIR`" + ` set, from ` + "`config.toml`" + ` in that directory. It is TOML.

` + "```" + `
longterm config                      # values in effect, and where each comes from
longterm config path                 # where the file is
longterm config edit                 # open it in $EDITOR; it is checked afterwards
longterm config check [FILE]         # report errors, with line and column
longterm config get KEY
longterm config set KEY VALUE        # changes this value, keeps comments and order
longterm config unset KEY            # back to the default
` + "```" + `

A flag overrides a variable, a variable the file, the file the default. The daemon notices a changed file
within a second (through a symbolic link, within ten seconds when idle), applies it and publishes a ` + "`config`" + ` event. It does not apply a file with an
error: the last valid values stay, also after a daemon restart, and ` + "`longterm doctor`" + `, ` + "`longterm daemon status`" + `
and the log report the error.

Sizes have a unit: ` + "`500MB` (10⁶), `2GiB` (2³⁰; `2G` is the same)" + `, or are numbers of bytes. Times have units, too:
` + "`90d`, `1h30m`, `200ms`" + `; ` + "`y`" + ` is 365 days, ` + "`w`" + ` 7. Zero needs none.

*Taken* is when a change applies: at once; with the next attach, viewer or line (next use);
or to new sessions.
`

// docsKeysThemes is the text on [keys] and [themes].
const docsKeysThemes = `## [keys]

Keys of the viewer, after the prefix or in copy mode: an action and its keys. An
empty text removes the keys. [The viewer](viewer.md) lists the actions. A key with two actions is an error.

` + "```toml" + `
[keys]
zoom = "z F11"
follow = ""
` + "```" + `

## [themes.NAME]

Colours of a custom theme, for ` + "`view.theme`" + `: ` + "`\"#rrggbb\"`, a number from 0 to 255, `\"default\"`, or one of `black`,\n`red`, `green`, `yellow`, `blue`, `magenta`, `cyan`, `white`, also with `bright-` before it" + `. Missing colours are those of
the theme ` + "`dark`" + `; lower rows win over upper ones.

` + "```toml" + `
[view]
theme = "night"

[themes.night]
background = "#101010"
bar = "bright-blue"
` + "```" + `

| part | colours |
|---|---|
`

// docsMatchers is the text on [[matchers]].
const docsMatchers = `
## [[matchers]]

Your own problem matchers, for ` + "`exec --json --parse`" + ` and ` + "`commands --parse`" + `. They are tried before the built-in ones.

`

// Markdown returns docs/config.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(docsHead)
	section := ""
	for i := range table {
		r := &table[i]
		s, name, _ := strings.Cut(r.Key, ".")
		if s != section {
			section = s
			fmt.Fprintf(&b, "\n## [%s]\n\n| key | value | default | taken | meaning |\n|---|---|---|---|---|\n", s)
		}
		def := "—"
		if r.Default != "" {
			def = "`" + r.Default + "`"
		}
		help := r.Help
		switch {
		case r.Env != "" && r.Flag != "":
			help += fmt.Sprintf(" (`$%s`, `%s`)", r.Env, r.Flag)
		case r.Flag != "":
			help += fmt.Sprintf(" (`%s`)", r.Flag)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", name, strings.ReplaceAll(r.AllowedText(), `"`, "`"), def, r.When, help)
	}
	b.WriteString(docsCallers)
	for i := range callerLimits {
		l := &callerLimits[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.name, l.users, l.agents(), l.reason)
	}
	b.WriteString("\n" + docsKeysThemes)
	for _, p := range theme.Parts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Name, p.Help)
	}
	b.WriteString(docsMatchers + "| key | value | meaning |\n|---|---|---|\n")
	for _, k := range MatcherKeys {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.Kind, k.Help)
	}
	b.WriteString("\n```toml\n" + matcherExample + "```\n")
	b.WriteString(docsHooks + "| key | value | meaning |\n|---|---|---|\n")
	for _, k := range HookKeys {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.Kind, k.Help)
	}
	b.WriteString("\n| event | there is one when | over a restart of the daemon |\n|---|---|---|\n")
	for _, e := range HookEvents {
		kept := "kept, run once"
		if len(e.Kinds) == 0 {
			kept = "not kept"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, e.Help, kept)
	}
	b.WriteString("\n```toml\n" + hookExample + "```\n")
	return b.String()
}

const matcherExample = `[[matchers]]
name = "mytool"
commands = ["mytool"]
patterns = ['^(?P<severity>E|W) (?P<file>\S+):(?P<line>\d+) (?P<message>.*)$']
`

// docsHooks is the text on [[hooks]].
const docsHooks = `
## [[hooks]]

Programs that the daemon runs, and URLs that it posts to, on events. [Completions](completions.md#hooks-in-the-configuration)
describes their input and guarantees.

`

const hookExample = `[[hooks]]
name = "desktop"
on = ["failed", "input"]
session = "build-*"
run = ["notify-send", "longterm"]
every = "30s"

[[hooks]]
name = "phone"
on = "approval"
webhook = "https://ntfy.sh/a-topic-hard-to-guess"
`

// Template returns a first configuration file: every key with its default, as a comment.
func Template() string {
	var b strings.Builder
	b.WriteString("# longterm's configuration. Lines with # are comments; the values shown are the defaults.\n# See `longterm help config`; `longterm config check` reports errors.\n")
	section, s := "", Default()
	for i := range table {
		r := &table[i]
		head, name, _ := strings.Cut(r.Key, ".")
		if head != section {
			section = head
			fmt.Fprintf(&b, "\n[%s]\n", head)
		}
		fmt.Fprintf(&b, "# %s\n# %s = %s\n", r.Help, name, r.literal(s))
	}
	b.WriteString("\n[keys]\n# zoom = \"z F11\"\n\n# [themes.mine]\n# background = \"#101010\"\n")
	for _, line := range strings.Split(strings.TrimSpace(matcherExample)+"\n\n"+strings.TrimSpace(hookExample), "\n") {
		b.WriteString("# " + line + "\n")
	}
	return b.String()
}
