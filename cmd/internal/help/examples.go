package help

import "github.com/spf13/cobra"

// examples holds examples of verbs, by the words behind the program's name, in addition to those in their long texts.
var examples = map[string]string{
	"agent":            "longterm agent install claude\nlongterm agent skill",
	"agent skill":      "longterm agent skill > SKILL.md",
	"approvals ls":     "longterm approvals ls\nlongterm approvals ls --grants",
	"approvals revoke": "longterm approvals ls --grants        # its first column is the grant\nlongterm approvals revoke G1",
	"approvals show":   "longterm approvals show A14",
	"approvals watch":  "longterm approvals watch",
	"attach":           "longterm attach work --read-only      # watch, type nothing\nlongterm attach server/work           # on another host, over ssh",
	"config get":       "longterm config get keys.prefix",
	"config path":      `cat "$(longterm config path)"`,
	"config unset":     "longterm config unset keys.prefix",
	"context":          "longterm context --peek               # all shells, without a change of the position",
	"daemon restart":   "longterm daemon restart",
	"daemon start":     "longterm daemon start",
	"daemon status":    "longterm daemon status --json",
	"daemon stop":      "longterm daemon stop\nlongterm daemon stop --kill-sessions",
	"events ack":       "longterm events ack ci 42",
	"events ls":        "longterm events ls",
	"events rm":        "longterm events rm ci",
	"expand":           "echo '!{git log -3 --oneline}' | longterm expand -",
	"fleet drain":      "longterm fleet drain",
	"fleet hosts":      "longterm fleet hosts",
	"fleet revoke":     "longterm fleet revoke laptop",
	"fleet simulate":   "longterm fleet simulate --help",
	"fleet status":     "longterm fleet status",
	"fleet undrain":    "longterm fleet undrain",
	"hosts disconnect": "longterm hosts disconnect server",
	"jobs background":  "longterm jobs background J4",
	"jobs read":        "longterm jobs read J4 --tail 20",
	"jobs rm":          "longterm jobs rm J4",
	"jobs show":        "longterm jobs show J4",
	"jobs stop":        "longterm jobs stop J4",
	"jobs wait":        "longterm jobs wait J4 --timeout 10m && echo succeeded",
	"label":            "longterm ls --label project=shop",
	"layout apply":     "longterm layout apply morning",
	"layout close":     "longterm layout close work",
	"layout focus":     "longterm layout focus work",
	"layout ls":        "longterm layout ls",
	"layout place":     "longterm layout place build --beside work\nlongterm layout place top --float",
	"layout rm":        "longterm layout rm morning",
	"layout split":     "longterm layout split work --below -- make watch",
	"paste":            "git diff | longterm paste work --enter",
	"policy":           "longterm policy show",
	"policy path":      `cat "$(longterm policy path)"`,
	"prune":            "longterm prune --dead 100             # keep the newest hundred ended sessions",
	"relay":            "longterm relay --listen 127.0.0.1:7720 --behind-proxy",
	"rename":           "longterm rename 3f2a shop             # by a prefix of its id",
	"render":           "ls --color=always | longterm render --format html -o ls.html",
	"resize":           "longterm resize 3f2a 80x24            # by a prefix of its id",
	"signal":           "longterm signal work INT              # as Ctrl-C does",
	"status":           "longterm status --json",
	"suggest":          "longterm suggest work --json",
	"tape":             "longterm tape --check demo.tape       # mistakes only, nothing runs",
	"token ls":         "longterm token ls",
	"token new":        "longterm token new ci --days 30",
	"token revoke":     "longterm token revoke ci",
	"version":          "longterm version",
	"watch":            "longterm watch --notify desktop -c 'make && ./test'",
	"tmux-compat":      "longterm tmux-compat new-session -d -s work",
	"completion bash":  "longterm completion bash > ~/.local/share/bash-completion/completions/longterm",
	"completion fish":  "longterm completion fish > ~/.config/fish/completions/longterm.fish",
	"completion zsh":   `longterm completion zsh > "${fpath[1]}/_longterm"`,
}

// addExamples sets the examples of c, whose words behind the program's name are path, and of its subcommands.
func addExamples(c *cobra.Command, path string) {
	if e := examples[path]; e != "" && c.Example == "" {
		c.Example = e
	}
	for _, sub := range c.Commands() {
		name := sub.Name()
		if path != "" {
			name = path + " " + name
		}
		addExamples(sub, name)
	}
}
