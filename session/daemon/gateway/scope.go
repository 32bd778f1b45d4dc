package gateway

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// The scope of an answer. An answer about words that mean something else in another directory, with another environment or with
// other aliases holds only where they were shown. "For this session" allows commands that start with the same words and that the
// same rule asked about. A prefix has to mean something: where the danger is in the rest (what is removed,
// the code an interpreter is given, a word that is not known before it runs), all of it has to be the same.

// Bounds of what is kept and shown of an asking, in bytes. What is longer is cut, and has a hash for all of it.
const (
	maxExact = 4 << 10
	maxText  = 16 << 10
	maxWord  = 1 << 10
	maxWords = 200
)

// bounded is text within a bound, by which texts can still be told apart.
func bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%s… (%d bytes in all, SHA-256 %x)", strings.ToValidUTF8(s[:limit-100], ""), len(s), sum)
}

func boundedWords(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	out := make([]string, 0, min(len(words), maxWords+1))
	for i, w := range words {
		if i == maxWords {
			return append(out, fmt.Sprintf("… (%d words in all, %s)", len(words), bounded(quoted(words), 101)[1:]))
		}
		out = append(out, bounded(w, maxWord))
	}
	return out
}

// kept is an asking as it is kept; whole says that nothing of it is left out.
func (a *Ask) kept() (k Ask, whole bool) {
	k = *a
	k.Line, k.Path, k.Cwd = bounded(a.Line, maxText), bounded(a.Path, maxText), bounded(a.Cwd, maxText)
	k.Argv, k.Parent, k.Settings = boundedWords(a.Argv), boundedWords(a.Parent), boundedWords(a.Settings)
	return k, k.Line == a.Line && k.Path == a.Path && k.Cwd == a.Cwd && slices.Equal(k.Argv, a.Argv)
}

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

// runsWhatItIsGiven are subcommands like them.
var runsWhatItIsGiven = []string{
	"bundle exec", "cargo run", "docker exec", "docker run", "gh alias", "gh api", "gh extension", "git bisect", "git config",
	"git rebase", "go run", "go tool", "kubectl exec", "nix run", "npm exec", "npm run", "pnpm exec", "pnpm run", "podman exec",
	"podman run", "poetry run", "uv run", "yarn exec", "yarn run",
}

// scoped is what an answer for the session allows, of one command.
type scoped struct {
	Rule   string   `json:"rule"`
	Prefix []string `json:"prefix,omitempty"`
	Exact  string   `json:"exact,omitempty"` // instead of the prefix

	Dir      string `json:"dir,omitempty"`      // directory in which it holds, or "" for everywhere
	Commands string `json:"commands,omitempty"` // digest of the commands behind Exact
}

// unknownDir is the directory of a command whose directory is unknown. No grant holds there.
const unknownDir = unknownMark

// scopeOf is what has to be allowed for an asking to go ahead: one entry for each command that is asked about.
func scopeOf(a *Ask, j *policy.Judgement) (list []scoped) {
	whole := bounded(firstOf(a.Line, quoted(a.Argv), a.Path), maxExact)
	if len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return []scoped{{Rule: j.Rule, Exact: whole, Dir: a.dir(j.Commands), Commands: digestOfCommands(j.Commands)}}
	}
	meant := !slices.ContainsFunc(j.Commands, func(c policy.Command) bool {
		return c.Verdict == policy.Ask && !c.IsLost() && prefixOf(&c) == nil
	})
	for _, c := range j.Commands {
		if c.Verdict != policy.Ask {
			continue
		}
		s := scoped{Rule: c.Rule, Exact: whole, Dir: a.dir(j.Commands), Commands: digestOfCommands(j.Commands)}
		switch {
		case c.IsLost(): // the answer is about the shell, for each line
			s = scoped{Rule: ruleLost, Exact: a.earlier.WhyLost()}
		case meant: // if one command must match exactly, all must
			s = scoped{Rule: c.Rule, Prefix: prefixOf(&c)}
			if (len(s.Prefix) > 1 || strings.Contains(s.Prefix[0], "/")) && policy.IsPlaced(s.Prefix) { // "touch" alone covers any file
				s.Dir = firstOf(c.Dir, unknownDir)
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

// prefixOf is the words that stand for a command; nil: only all of it does.
func prefixOf(c *policy.Command) []string {
	if len(c.Argv) == 0 || strings.HasPrefix(c.Rule, "hard:") || slices.Contains(aboutTheRest, c.Rule) || c.Risk == policy.Unknown ||
		c.Risk == policy.Privilege || c.Risk == policy.Destroys || c.Propose().Program == "" {
		return nil
	}
	name := filepath.Base(c.Argv[0])
	switch {
	case slices.Contains(runsAnything, name):
		return nil
	case !slices.Contains(manyFaced, name):
		return c.Argv[:1]
	case len(c.Argv) < 2 || strings.HasPrefix(c.Argv[1], "-"): // options before the subcommand change what it does
		return nil
	case slices.Contains(runsWhatItIsGiven, name+" "+c.Argv[1]):
		return nil
	}
	return c.Argv[:2]
}

// aboutTheRest are rules of presets that ask because of what a command is given, whatever it is.
var aboutTheRest = []string{"unknown", "environment", "write", "secret"}

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
func (a *Ask) dir(commands []policy.Command) string {
	placed := len(commands) == 0
	for i := range commands {
		if placed = placed || policy.IsPlaced(commands[i].Argv); placed {
			return firstOf(a.Cwd, unknownDir)
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
		if policy.IsPlaced(commands[i].Argv) {
			dir = commands[i].Dir
		}
		fmt.Fprintf(sum, "%q %q\n", commands[i].Argv, dir)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// risk tells how bad it may be.
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

// groupOf names those that are much the same: asked about by the same rule, of the same program.
func groupOf(j *policy.Judgement) string { return inLine(j.Group()) }
