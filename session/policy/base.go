package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// presets applies the preset and the rules to one command.
type presets struct {
	*shellState
	*verdicts
}

// applyPreset applies the preset to a command that neither the hard denials nor a rule decided.
func (pr *presets) applyPreset(c *Command, x *invocation) {
	if c.Verdict != Allow {
		return
	}
	switch pr.engine.preset {
	case Off, Hard:
		return
	}
	for _, name := range pr.env {
		if name == "IFS" && x.name == "read" {
			continue
		}
		changes := changesMeaning(name)
		if pr.engine.preset == Build {
			changes = name == "PATH" || !pr.isHarmlessVariable(name, pr.scope.get(name).text)
		}
		if changes {
			pr.ask(c, "environment", name+" changes what the program does")
			c.Instead = "run it without " + name
			return
		}
	}
	miss, ok := pr.matchAllow(x)
	if ok {
		return
	}
	if pr.engine.preset == Listed {
		dir, _ := path.Split(x.argv[0])
		if !(x.hasJudgedChildren && systemProgramDirs[dir] && (x.name == "sh" || x.name == "bash")) {
			pr.askUnmatched(c, "not listed", "no rule allows it", miss)
		}
		return
	}
	if x.name == "git" {
		x = withoutSettings(x)
	}
	why, ok := pr.onlyReads(x)
	if ok || pr.engine.preset == Build && pr.isBuild(x) {
		return
	}
	if word := pr.outsideWord(x); word != "" {
		why += ": " + word + " is outside of the project"
	}
	pr.askUnmatched(c, "not reading", why, miss)
}

// harmlessGitSetting matches settings of git -c that change neither which programs it runs nor where it writes.
var harmlessGitSetting = pattern.Lazy(`(?i)^(?:(?:color|advice)\.[a-z.]+=[a-z0-9]*|(?:core\.fsmonitor|log\.showsignature|(?:commit|tag)\.gpgsign)=(?:false|no|off|0)|` +
	`(?:core\.(?:quotepath|abbrev)|gc\.auto(?:detach)?|diff\.renames|init\.defaultbranch|protocol\.version)=[a-z0-9]+|` +
	`(?:core\.pager|pager\.[a-z]+)=(?:cat|false)?|user\.(?:name|email)=[^\x01-\x05]*)$`)

// withoutSettings returns a git command without harmless settings before the subcommand.
func withoutSettings(x *invocation) *invocation {
	argv := x.argv
	for len(argv) > 3 && argv[1] == "-c" && harmlessGitSetting.MatchString(argv[2]) {
		argv = append(argv[:1:1], argv[3:]...)
	}
	if len(argv) == len(x.argv) {
		return x
	}
	bare := *x
	bare.argv = argv
	bare.row, bare.words, bare.args = resolve(x.name, argv)
	return &bare
}

// askUnmatched requires approval for a command that no rule allows, and reports what the nearest rule lacks.
func (pr *presets) askUnmatched(c *Command, rule, why string, miss nearestRule) {
	if miss.why != "" {
		why += "; " + miss.why
	}
	pr.ask(c, rule, why)
	if miss.instead != "" {
		c.Instead = miss.instead
	}
}

// onlyReads reports whether a command only reads; otherwise it returns why not.
func (pr *presets) onlyReads(x *invocation) (string, bool) {
	dir := path.Dir(x.argv[0])
	if strings.Contains(x.argv[0], "/") && !slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin",
		"/sbin", "/usr/sbin",
		"/opt/homebrew/bin"}, dir) {
		return "the program is outside the usual directories", false
	}
	if why, ok, decided := shellReads(x, pr.engine.preset == Build); decided {
		return why, ok
	}
	if pr.engine.preset == Build && x.name == "alias" {
		return "", !slices.ContainsFunc(x.argv[1:], func(a string) bool {
			name, _, defines := strings.Cut(a, "=")
			return a != "-p" && !(defines && pr.isPlainAlias(name))
		})
	}
	if pr.engine.preset == Build && monitors.has(x.name) && len(x.args.Operands) == 0 && !slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "/") }) {
		return "", true
	}
	if x.row == nil {
		return "it is not known to only read", false
	}
	if len(x.argv) == 2 && (x.argv[1] == "--version" || x.argv[1] == "-version" || x.argv[1] == "--help" ||
		x.row.Lang != "" && x.row.Lang != "sh" && (x.argv[1] == "-v" || x.argv[1] == "-V")) {
		return "", true
	}
	if x.name == "id" && !pr.direct {
		return "it is not known to only read", false
	}
	if (transparentWrappers.has(x.name) || x.name == "watch" && pr.engine.preset == Build) && x.hasJudgedChildren {
		return pr.wrapperOnlyReads(x)
	}
	if x.name == "git" && len(x.words) > 1 && x.words[1] == "clean" && x.args.Has("-n", "--dry-run") {
		return "", true
	}
	if x.name == "mount" && (len(x.argv) == 1 || len(x.argv) == 2 && x.argv[1] == "-l") {
		return "", true
	}
	if x.name == "command" && x.args.Has("-v", "-V") {
		return "", true
	}
	if whole := programs.Lookup(x.name); whole != nil && whole != x.row || x.name == "git" {
		// Options before the subcommand.
		for _, o := range x.argv[1:] {
			if !strings.HasPrefix(o, "-") {
				break
			}
			if name, _, _ := strings.Cut(o, "="); !whole.IsFlag(name) && o != "--version" && o != "--help" {
				return o + " changes what it runs", false
			}
		}
		if x.name == "git" && len(x.argv) > 1 && x.row.SubOnly {
			return "the subcommand is not known to only read", false
		}
	}
	if x.name == "git" && len(x.argv) == 3 && x.argv[1] == "config" && strings.Contains(x.argv[2], ".") && !hasHole(x.argv[2]) {
		return "", true // a key alone is read
	}
	args := x.args
	if x.name == "find" && x.hasJudgedChildren { // what -exec runs was judged by itself
		args.Options = slices.DeleteFunc(slices.Clone(args.Options), func(o option) bool { return o.Name == "-exec" || o.Name == "-ok" })
	}
	ok, what := x.row.ReadsOnly(&args)
	if !ok {
		if what != "" {
			return what + " makes it do more than read", false
		}
		return "it is not known to only read", false
	}
	if why, ok := pr.specialOnlyReads(x); !ok {
		return why, false
	}
	if why := pr.sendsOut(x); why != "" {
		return why, false
	}
	sought := ""
	if ops := x.args.Operands; len(ops) > 1 && (x.name == "rg" || strings.HasSuffix(x.name, "grep")) && !slices.Contains(ops[1:], ops[0]) &&
		!x.args.Has("-e", "-f", "--regexp", "--file", "--files") {
		sought = ops[0]
	}
	for _, a := range x.argv[1:] {
		if hasHole(a) && !x.args.Dashes && strings.IndexAny(a, holes) == 0 &&
			x.row.Unsafe+x.row.Writes+x.row.Argv != "" {
			return "what is not known may be an option", false
		}
		if x.name == "echo" || x.name == "printf" || a == sought {
			continue // a text
		}
		if treeReaders.has(x.name) && !strings.HasPrefix(a, "-") && a != "." && pr.isSecret(strings.TrimSuffix(a, "/")+"/x") {
			return a + holdsSecrets, false
		}
		if metadataReaders.has(x.name) && !strings.HasPrefix(a, "--") {
			continue
		}
		if pr.isSecret(a) || strings.Contains(a, "=") && pr.isSecret(a[strings.IndexByte(a, '=')+1:]) {
			return a + holdsSecrets, false
		}
	}
	return "", true
}

// holdsSecrets ends the reason of an approval for a command that prints secrets.
const holdsSecrets = " usually holds secrets"

// monitors show running processes. Keys typed into them are a user's.
var monitors = words("top htop btop atop iotop nvidia-smi")

// metadataReaders read names and sizes of files, not their content.
var metadataReaders = words("ls dir vdir stat file test [ realpath readlink basename dirname lsblk blkid du df")

// shellReads judges shell commands that only change how the shell continues; traced states that the shell may print the
// commands it runs. The last result reports whether shellReads decided.
func shellReads(x *invocation, traced bool) (string, bool, bool) {
	args := x.argv[1:]
	letters := "-+euoC"
	if traced {
		letters += "xva"
	}
	switch x.name {
	case "set":
		for i, a := range args {
			known := strings.Trim(a, letters) == "" && len(a) > 1 || i > 0 && a == "pipefail" ||
				i > 0 && (a == "errexit" || a == "nounset" || traced && a == "allexport")
			if !known {
				return "", false, false
			}
		}
		return "", true, len(args) > 0 && args[len(args)-1] != "-o" && args[len(args)-1] != "+o"
	case "shopt":
		for i, a := range args {
			if i == 0 && (a == "-s" || a == "-u" || a == "-q") || i > 0 && strings.HasSuffix(a, "glob") || a == "globstar" {
				continue
			}
			return "", false, false
		}
		return "", true, len(args) > 0
	case "unset":
		for _, a := range args {
			if a == "-f" || a == "-n" || changesMeaning(a) || strings.Contains(a, "[") || hasHole(a) {
				return "", false, false
			}
		}
		return "", true, len(args) > 0
	case "kill", "fg", "bg", "disown": // what this shell has started itself
		if x.name == "kill" && listsSignals(args) {
			return "", true, true
		}
		jobs := !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "%") && !isSignal(a) })
		return "", true, traced && jobs && (x.name != "kill" || len(args) > 0 && strings.HasPrefix(args[len(args)-1], "%"))
	case "env", "printenv": // secrets are masked in output for agents
		return "", true, traced && len(args) == 0
	case "ulimit":
		return "", true, traced
	case "deactivate", "logout":
		return "", true, traced && len(args) == 0
	case "source", ".":
		return "", true, traced && x.runsProjectFile
	case "trap":
		return "", true, len(args) > 1 && args[0] == "-"
	case "export": // variables that change the meaning of commands were judged by name
		names := len(args) > 0 && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") || hasHole(nameOf(a)) })
		return "", true, names
	}
	return "", false, false
}

// listsSignals reports whether kill, with these arguments, only prints names and numbers of signals. fish runs it for its prompt.
func listsSignals(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "-L", "-t", "--table":
		return len(args) == 1
	case "-l", "--list":
		return !slices.ContainsFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, "-") || hasHole(a) })
	}
	return false
}

// treeReaders are programs that read all files below a directory.
var treeReaders = words("grep egrep fgrep rg ag ack find fd fdfind")

// wrapperOnlyReads works like onlyReads for a wrapper, whose command was judged on its own.
func (pr *presets) wrapperOnlyReads(x *invocation) (string, bool) {
	for _, o := range x.args.Options {
		if x.row.TakesOutputFile(o.Name) || x.row.TakesShellCode(o.Name) {
			return o.Name + " makes it do more than read", false
		}
		switch o.Name {
		case "--rcfile", "--init-file", "-a", "--arg-file", "-E", "-i":
			if x.name == "env" || x.name == "xargs" && o.Name == "-E" {
				continue
			}
			return o.Name + " makes it do more than read", false
		}
	}
	return "", true
}

// specialOnlyReads works like onlyReads for programs whose options alone do not show it.
func (pr *presets) specialOnlyReads(x *invocation) (string, bool) {
	ops := x.args.Operands
	switch x.name {
	case "ps":
		if len(ops) > 0 && strings.Contains(ops[0], "e") {
			return "e shows the environment of processes, with their secrets", false
		}
	case "date":
		if len(ops) > 0 && !strings.HasPrefix(ops[0], "+") {
			return "it sets the clock", false
		}
	case "sysctl":
		for _, o := range ops {
			if strings.Contains(o, "=") {
				return "it sets a value", false
			}
		}
	case "nm", "objdump", "readelf", "size", "addr2line", "c++filt", "strings":
		for _, o := range ops {
			if strings.HasPrefix(o, "@") {
				return "it takes its options from " + o[1:], false
			}
		}
	case "less", "more", "zless":
		for _, o := range ops {
			if strings.HasPrefix(o, "+") {
				return "it runs " + o, false
			}
		}
	case "printf":
		if len(x.argv) > 1 && strings.HasPrefix(x.argv[1], "-v") {
			return "it sets a variable", false
		}
	case "jq", "gojq", "jaq":
		for _, o := range ops {
			if strings.Contains(o, "import ") || strings.Contains(o, "include ") || strings.Contains(o,
				"$ENV") || strings.Contains(o, "env.") {
				return "it reads modules or the environment", false
			}
		}
	case "awk", "gawk", "mawk", "nawk", "sed", "gsed":
		for _, o := range x.args.Options {
			if x.row.TakesCode(o.Name) && !codeReads(x.row.Lang, o.Value) {
				return "its code does more than read", false
			}
		}
		if !pr.hasCode(x) && (len(ops) == 0 || !codeReads(x.row.Lang, ops[0])) {
			return "its code does more than read", false
		}
	case "yq":
		for _, o := range ops {
			if strings.Contains(o, "load") || strings.Contains(o, "env") {
				return "it reads other files or the environment", false
			}
		}
	case "bat", "batcat":
		return "it changes its own files", len(ops) == 0 || ops[0] != "cache"
	case "find":
		for _, o := range ops {
			if hasHole(o) {
				return "what is not known may be an option", false
			}
		}
	case "printenv", "export", "set":
		return "it shows the environment, with its secrets", false
	case "systemctl":
		return "", len(ops) > 0
	case "gh":
		if repo, _ := x.args.Get("-R", "--repo"); strings.Count(repo, "/") > 1 {
			return repo + " names a host", false
		}
	}
	return "", true
}

// A name lookup or a fetch sends its words to another machine. A command that does so counts as reading only if its words are
// literal.

// remoteQueries are readers, with their subcommands, that send their words to another machine.
var remoteQueries = fieldSet("gh glab kubectl oc|npm view|npm info|npm show|npm outdated|gem list|brew info|go list|go doc|svn info|svn status")

// hostTables are databases of getent that are looked up by the name service of the network.
const hostTables = words("hosts ahosts ahostsv4 ahostsv6 networks netgroup")

// sendsOut returns how a command that only reads sends words to another machine, or "" if it does not.
func (pr *presets) sendsOut(x *invocation) string {
	args := x.argv[1:]
	for _, a := range args {
		if full, _ := pr.clean(a[strings.IndexByte(a, '=')+1:]); hasHole(a) && (strings.HasPrefix(full, "/net/") || strings.HasPrefix(full, "/afs/")) {
			return "a path below " + full[:4] + " is looked up on another machine"
		}
	}
	computed := slices.ContainsFunc(args, hasHole)
	switch {
	case x.name == "getent":
		if ops := x.args.Operands; computed || len(ops) > 0 && hostTables.has(ops[0]) && (len(ops) > 1 || x.in.set) {
			return "it looks the name up on another machine"
		}
	case x.name == "tar" || x.name == "bsdtar" || x.name == "gtar":
		for _, o := range x.args.Options {
			before, _, remote := strings.Cut(o.Value, ":")
			if (o.Name == "-f" || o.Name == "--file") && !x.args.Has("--force-local") &&
				(remote && !strings.Contains(before, "/") || hasHole(before) && strings.IndexAny(before, holes) == 0) {
				return "it may read an archive of another machine"
			}
		}
	case x.name == "go" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "@") || a == "-versions" }):
		return "it fetches a module"
	case x.name == "gem" && x.args.Has("-r", "--remote", "-b", "--both", "-a"):
		return "it asks another machine"
	case x.isIn(remoteQueries) && computed:
		return "it sends a word to another machine that is not known before it runs"
	case (x.name == "xmllint" && !x.args.Has("--nonet") || x.name == "rpm" || x.name == "svn") && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "://") }):
		return "it fetches from another machine"
	}
	return ""
}

// installsElsewhere reports whether a build command puts programs into a directory of PATH, perhaps under names of other programs.
func (pr *presets) installsElsewhere(x *invocation) bool {
	switch {
	case x.name == "stack":
		return hasPrefix(x.argv, "--copy-bins", "--local-bin-path", "--copy-compiler-tool")
	case x.name != "go" || x.argv[1] != "install":
		return false
	}
	packages := x.args.Operands
	if len(packages) > 0 && packages[0] == "install" {
		packages = packages[1:]
	}
	return len(packages) == 0 || slices.ContainsFunc(packages, func(p string) bool {
		name := path.Base(p)
		return !strings.HasPrefix(p, "./") || strings.Trim(name, ".") == "" || hasHole(p) || hasGlob(p) || isUsualProgram(name) || destroyers.has(name) || fullScreenPrograms.has(name)
	})
}
