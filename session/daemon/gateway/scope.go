package gateway

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// What an answer reaches. "For this session" allows commands that begin with the same words and that the
// same rule asked about. A prefix has to mean something: where the danger is in the rest (what is removed,
// the code an interpreter is given, a word that is not known before it runs), all of it has to be the same.

// unknownMark stands in judgements for what is not known.
const unknownMark = "…"

// manyFaced are programs with subcommands: their first word belongs to the prefix.
var manyFaced = []string{
	"apt", "apt-get", "aws", "az", "brew", "bun", "bundle", "cargo", "composer", "conda", "dnf", "docker", "dotnet", "flatpak",
	"gcloud", "gem", "gh", "git", "glab", "go", "gradle", "helm", "hg", "jj", "kubectl", "longterm", "make", "mvn", "nerdctl",
	"nix", "npm", "pacman", "pip", "pip3", "pnpm", "podman", "poetry", "rustup", "service", "snap", "svn", "systemctl",
	"terraform", "uv", "yarn", "yum", "zypper",
}

// runsAnything are programs whose other words are programs, or code.
var runsAnything = []string{
	".", "ash", "awk", "bash", "builtin", "busybox", "chroot", "command", "dash", "doas", "env", "eval", "exec", "expect", "find",
	"fish", "gawk", "ionice", "julia", "ksh", "lua", "mawk", "mksh", "nice", "node", "nohup", "nsenter", "osascript", "parallel",
	"perl", "php", "powershell", "pwsh", "python", "python2", "python3", "Rscript", "ruby", "sed", "setsid", "sh", "source",
	"ssh", "stdbuf", "strace", "su", "sudo", "tclsh", "time", "timeout", "tmux", "unshare", "watch", "xargs", "zsh",
}

// scoped is what an answer for the session allows, of one command.
type scoped struct {
	rule   string
	prefix []string
	exact  string // instead of the prefix
}

// scopeOf is what has to be allowed for an asking to go ahead: one entry for each command that is asked about.
func scopeOf(a *Ask, j *policy.Judgement) (list []scoped) {
	whole := firstOf(a.Line, quoted(a.Argv), a.Path)
	if len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return []scoped{{rule: j.Rule, exact: whole}}
	}
	meant := !slices.ContainsFunc(j.Commands, func(c policy.Command) bool { return c.Verdict == policy.Ask && prefixOf(&c) == nil })
	for _, c := range j.Commands {
		if c.Verdict != policy.Ask {
			continue
		}
		s := scoped{rule: c.Rule, exact: whole}
		if meant { // else one that has to be the same makes all of it so
			s.prefix, s.exact = prefixOf(&c), ""
		}
		if !slices.ContainsFunc(list, func(o scoped) bool {
			return o.rule == s.rule && o.exact == s.exact && slices.Equal(o.prefix, s.prefix)
		}) {
			list = append(list, s)
		}
	}
	return list
}

// prefixOf is the words that stand for a command; nil: only all of it does.
func prefixOf(c *policy.Command) []string {
	if len(c.Argv) == 0 || strings.HasPrefix(c.Rule, "hard:") || c.Rule == "unknown" || c.Rule == "environment" ||
		slices.ContainsFunc(c.Argv, func(w string) bool { return strings.Contains(w, unknownMark) }) ||
		slices.Contains(runsAnything, filepath.Base(c.Argv[0])) {
		return nil
	}
	if !slices.Contains(manyFaced, filepath.Base(c.Argv[0])) {
		return c.Argv[:1]
	}
	if len(c.Argv) < 2 || strings.HasPrefix(c.Argv[1], "-") { // options before the subcommand change what it does
		return nil
	}
	return c.Argv[:2]
}

// allows says that a grant holds for what is needed.
func allows(g *store.Grant, need *scoped) bool {
	if g.Rule != need.rule {
		return false
	}
	if need.exact != "" || g.Exact != "" {
		return need.exact == g.Exact
	}
	return slices.Equal(g.Prefix, need.prefix)
}

// risk tells how bad it may be.
func risk(j *policy.Judgement) string {
	if strings.HasPrefix(j.Rule, "hard:") || j.Rule == string(Reveal) || j.Rule == string(Write) {
		return "high"
	}
	level := "low"
	for _, c := range j.Commands {
		switch {
		case c.Verdict != policy.Ask:
		case c.Risk == policy.Privilege, c.Risk == policy.Destroys:
			return "high"
		case c.Risk == policy.Network, c.Risk == policy.Unknown, c.Rule == "unknown", c.Rule == "environment":
			level = "medium"
		}
	}
	if j.Rule == string(Network) {
		level = "medium"
	}
	return level
}

// groupOf names those that are much the same: asked about by the same rule, of the same program.
func groupOf(j *policy.Judgement) string { return inLine(j.Group()) }
