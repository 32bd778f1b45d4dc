package authorize

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// This file defines the scope of an answer. Words can mean something else in another directory, environment or alias
// table, so an answer holds only where they were shown. "For this session" allows commands that start with the same
// words and that the same rule asked about. If the danger is in the remaining words (removed files, code for an
// interpreter, an unknown word), all words have to be the same.

// Bounds of what is stored and shown of a request, in bytes. Longer text is truncated and has a hash of the whole.
const (
	maxExact = 4 << 10
	maxText  = 16 << 10
	maxWord  = 1 << 10
	maxWords = 200
)

// truncate returns s within a bound; different texts stay different.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%s… (%d bytes in all, SHA-256 %x)", strings.ToValidUTF8(s[:limit-100], ""), len(s), sum)
}

func truncateWords(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	out := make([]string, 0, min(len(words), maxWords+1))
	for i, w := range words {
		if i == maxWords {
			return append(out, fmt.Sprintf("… (%d words in all, %s)", len(words), truncate(quoteWords(words), 101)[1:]))
		}
		out = append(out, truncate(w, maxWord))
	}
	return out
}

// toStored returns the request in its stored form; whole reports whether nothing was truncated.
func (a *Request) toStored() (k Request, whole bool) {
	k = *a
	k.Line, k.Path, k.Cwd = truncate(a.Line, maxText), truncate(a.Path, maxText), truncate(a.Cwd, maxText)
	k.Argv, k.Parent, k.Settings = truncateWords(a.Argv), truncateWords(a.Parent), truncateWords(a.Settings)
	return k, k.Line == a.Line && k.Path == a.Path && k.Cwd == a.Cwd && slices.Equal(k.Argv, a.Argv)
}

// unknownMark replaces unknown words in judgements.
const unknownMark = "…"

// subcommandPrograms are programs with subcommands: their first word belongs to the prefix.
var subcommandPrograms = []string{
	"apt", "apt-get", "aws", "az", "brew", "bun", "bundle", "cargo", "composer", "conda", "dnf", "docker", "dotnet", "flatpak",
	"gcloud", "gem", "gh", "git", "glab", "go", "gradle", "helm", "hg", "jj", "kubectl", "longterm", "make", "mvn", "nerdctl",
	"nix", "npm", "pacman", "pip", "pip3", "pnpm", "podman", "poetry", "rustup", "service", "snap", "svn", "systemctl",
	"terraform", "uv", "yarn", "yum", "zypper",
}

// launchers are programs whose other words are programs, or code.
var launchers = []string{
	".", "ash", "awk", "bash", "builtin", "busybox", "chroot", "command", "dash", "doas", "env", "eval", "exec", "expect", "find",
	"fish", "gawk", "ionice", "julia", "ksh", "lua", "mawk", "mksh", "nice", "node", "nohup", "nsenter", "osascript", "parallel",
	"perl", "php", "powershell", "pwsh", "python", "python2", "python3", "Rscript", "ruby", "sed", "setsid", "sh", "source",
	"ssh", "stdbuf", "strace", "su", "sudo", "tclsh", "time", "timeout", "tmux", "unshare", "watch", "xargs", "zsh",
}

// launcherSubcommands are subcommands whose other words are programs, or code.
var launcherSubcommands = []string{
	"bundle exec", "cargo run", "docker exec", "docker run", "gh alias", "gh api", "gh extension", "git bisect", "git config",
	"git rebase", "go run", "go tool", "kubectl exec", "nix run", "npm exec", "npm run", "pnpm exec", "pnpm run", "podman exec",
	"podman run", "poetry run", "uv run", "yarn exec", "yarn run",
}

// scoped is what an answer for the session allows for one command.
type scoped struct {
	Rule   string   `json:"rule"`
	Prefix []string `json:"prefix,omitempty"`
	Exact  string   `json:"exact,omitempty"` // instead of the prefix

	Dir      string `json:"dir,omitempty"`      // directory in which it holds, or "" for everywhere
	Commands string `json:"commands,omitempty"` // digest of the commands behind Exact
}

// unknownDir is the directory of a command whose directory is unknown. No grant holds there.
const unknownDir = unknownMark

// scopeOf returns what has to be allowed for a request to proceed: one entry per command that needs approval.
func scopeOf(a *Request, j *policy.Judgement) (list []scoped) {
	whole := truncate(firstNonEmpty(a.Line, quoteWords(a.Argv), a.Path), maxExact)
	if len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return []scoped{{Rule: j.Rule, Exact: whole, Dir: a.dir(j.Commands), Commands: digestOfCommands(j.Commands)}}
	}
	meant := !slices.ContainsFunc(j.Commands, func(c policy.Command) bool {
		return c.Verdict == policy.Ask && !c.IsStateUnknown() && prefixOf(&c) == nil
	})
	for _, c := range j.Commands {
		if c.Verdict != policy.Ask {
			continue
		}
		s := scoped{Rule: c.Rule, Exact: whole, Dir: a.dir(j.Commands), Commands: digestOfCommands(j.Commands)}
		switch {
		case c.IsStateUnknown(): // the answer is about the shell, for each line
			s = scoped{Rule: ruleLost, Exact: a.priorState.WhyUnknown()}
		case meant: // if one command must match exactly, all must
			s = scoped{Rule: c.Rule, Prefix: prefixOf(&c)}
			if (len(s.Prefix) > 1 || strings.Contains(s.Prefix[0], "/")) && policy.DependsOnDir(s.Prefix) { // "touch" alone covers any file
				s.Dir = firstNonEmpty(c.Dir, unknownDir)
			}
		}
		if !slices.ContainsFunc(list, func(o scoped) bool {
			return o.Rule == s.Rule && o.Exact == s.Exact && o.Dir == s.Dir && slices.Equal(o.Prefix, s.Prefix)
		}) {
			list = append(list, s)
		}
	}
	return list
}

// prefixOf returns the words that identify a command, or nil if only all of its words do.
func prefixOf(c *policy.Command) []string {
	if len(c.Argv) == 0 || strings.HasPrefix(c.Rule, "hard:") || slices.Contains(operandRules, c.Rule) || c.Risk == policy.Unknown ||
		c.Risk == policy.Privilege || c.Risk == policy.Destroys || c.Propose().Program == "" {
		return nil
	}
	name := filepath.Base(c.Argv[0])
	switch {
	case slices.Contains(launchers, name):
		return nil
	case !slices.Contains(subcommandPrograms, name):
		return c.Argv[:1]
	case len(c.Argv) < 2 || strings.HasPrefix(c.Argv[1], "-"): // options before the subcommand change what it does
		return nil
	case slices.Contains(launcherSubcommands, name+" "+c.Argv[1]):
		return nil
	}
	return c.Argv[:2]
}

// operandRules are rules of presets that depend on a command's operands.
var operandRules = []string{"unknown", "environment", "write", "secret"}

// allows reports whether a grant covers need, a command in the directory in which it starts.
func allows(g *store.Grant, need *scoped) bool {
	switch {
	case g.Rule != need.Rule || need.Dir == unknownDir:
		return false
	case need.Exact != "" || g.Exact != "":
		return need.Exact == g.Exact && need.Dir == g.Dir && need.Commands == g.Commands
	case !slices.Equal(g.Prefix, need.Prefix):
		return false
	}
	below := g.Dir != "" && !strings.Contains(g.Prefix[0], "/") && policy.InRoots(need.Dir, []string{g.Dir})
	return need.Dir == g.Dir || below
}

// dir returns the directory to which an exact answer about commands is bound, or "" if their words mean the same everywhere.
func (a *Request) dir(commands []policy.Command) string {
	placed := len(commands) == 0
	for i := range commands {
		if placed = placed || policy.DependsOnDir(commands[i].Argv); placed {
			return firstNonEmpty(a.Cwd, unknownDir)
		}
	}
	return ""
}

// digestOfCommands returns a digest of the words of commands. It includes the directory of a command whose words mean something
// else elsewhere. The digest differs if aliases, functions or variables of the shell have changed a command.
func digestOfCommands(commands []policy.Command) string {
	sum := sha256.New()
	for i := range commands {
		dir := ""
		if policy.DependsOnDir(commands[i].Argv) {
			dir = commands[i].Dir
		}
		fmt.Fprintf(sum, "%q %q\n", commands[i].Argv, dir)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// risk returns the risk level of a judgement.
func risk(j *policy.Judgement) string {
	if strings.HasPrefix(j.Rule, "hard:") || j.Rule == string(Reveal) || j.Rule == string(Write) || j.Rule == string(Stop) {
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

// groupOf returns a name for similar requests: same rule, same program.
func groupOf(j *policy.Judgement) string { return oneLine(j.GroupKey()) }
