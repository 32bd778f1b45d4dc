package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// ownDir stands for $LONGTERM_DIR if the line does not set it: a directory of longterm's, anywhere.
const ownDir = "/" + someText + "/longterm"

// isOwnFile reports whether a path is one of longterm's own files or sockets.
func (fs *files) isOwnFile(p string) bool {
	full, ok := fs.clean(p)
	if strings.HasPrefix(full, ownDir) {
		return true
	}
	if strings.HasSuffix(full, ".sock") && (strings.Contains(full, "/longterm/") || strings.HasPrefix(full, "longterm/")) {
		return true
	}
	if !ok {
		return false
	}
	if stopsCgroups(full) {
		return true
	}
	if below, is := strings.CutPrefix(full, fs.home); is {
		for _, dir := range []string{"/.local/share/longterm", "/.local/state/longterm", "/.config/longterm", "/Library/Application Support/longterm"} {
			if below == dir || strings.HasPrefix(below, dir) && below[len(dir)] == '/' {
				return true
			}
		}
	}
	return fs.engine.owns(full) || strings.HasPrefix(full, "/run/user/") && (strings.HasSuffix(full, "/longterm") ||
		strings.Contains(full, "/longterm/"))
}

// stopsCgroups reports whether a file stops or kills all processes of a cgroup, which may be a keeper's or its
// daemon's, or adds others to keepers' cgroups.
func stopsCgroups(full string) bool {
	rest, is := strings.CutPrefix(full, "/sys/fs/cgroup/")
	if !is {
		return false
	}
	file := path.Base(rest)
	return file == "cgroup.freeze" || file == "cgroup.kill" || strings.Contains("/"+rest, "/longterm-") && strings.HasPrefix(file, "cgroup.")
}

// targetWriters write only their target, or are version control programs.
var targetWriters = words("cp mv install gcp rsync scp sftp tar zip git cd pushd diff longterm test [ export local declare " +
	"rm alias set source . exec")

// fileMakers are programs whose operands all are files that they create or change, or, of ln, give another name.
var fileMakers = words("touch mkdir rmdir mkfifo mknod truncate unlink shred ln link gln chmod chattr")

// judgeOwnFiles requires approval for commands that talk to longterm's daemon through its socket, past the rules, and for
// those that may change its files.
func (h *hardRules) judgeOwnFiles(c *Command, x *invocation) {
	if c.Verdict != Allow || x.name == "longterm" || h.engine.preset == Off {
		return
	}
	if fileMakers.has(x.name) && slices.ContainsFunc(x.args.Operands, h.isOwnFile) || x.name == "git" && h.gitWorksInOwnDir(x) {
		h.ask(c, "hard:longterm", "it may change longterm's own files")
		return
	}
	if textPrograms.has(x.name) && x.name != "curl" {
		return
	}
	reads := x.row != nil && x.row.Reads
	for _, a := range x.argv[1:] {
		if !strings.ContainsAny(a, "/.") || !strings.Contains(a, "longterm") && len(h.engine.own) == 0 && !strings.Contains(h.cwd, "longterm") {
			continue
		}
		for i, p := range []string{a, a[strings.IndexByte(a, '=')+1:], a[strings.IndexByte(a, ':')+1:], strings.TrimLeft(a, "-oOfU")} {
			if i > 0 && len(p) == len(a) {
				continue
			}
			p, _, _ = strings.Cut(p, ",")
			switch {
			case p == "" || !h.isOwnFile(p):
			case path.Ext(p) == ".sock" && !reads && x.name != "rm":
				h.ask(c, "hard:longterm", "it talks to longterm's daemon through its socket, past approval and audit")
				c.Instead = "use the verbs of longterm"
				return
			case !reads && !targetWriters.has(x.name) && strings.ContainsAny(p, "/."):
				h.ask(c, "hard:longterm", "it may change longterm's own files")
				return
			}
		}
	}
}

// gitReaders are git subcommands that do not change the working directory.
var gitReaders = words("status log diff show ls-files rev-parse blame grep cat-file describe shortlog")

// gitDirs returns the directory that git's own options, or else its variable, name: "." if they name none.
func (s *shellState) gitDirs(x *invocation) []string {
	place, tree := ".", s.scope.get("GIT_WORK_TREE").text
	for i := 1; i < len(x.argv) && strings.HasPrefix(x.argv[i], "-"); i++ {
		a := x.argv[i]
		value, joined := strings.CutPrefix(a, "--work-tree=")
		switch {
		case joined:
			tree = value
		case a == "-C" && i+1 < len(x.argv):
			i++
			place = x.argv[i]
		case a == "--work-tree" && i+1 < len(x.argv):
			i++
			tree = x.argv[i]
		case a == "-c" && i+1 < len(x.argv):
			i++
			if key, dir, is := strings.Cut(x.argv[i], "="); is && tree == "" && strings.EqualFold(key, "core.worktree") {
				tree = dir
			}
		case a == "--git-dir" || a == "--namespace":
			i++
		}
	}
	switch {
	case tree == "":
		return []string{place}
	case place == "." || strings.HasPrefix(tree, "/"):
		return []string{tree}
	}
	return []string{path.Join(place, tree)}
}

// gitWorksInOwnDir reports whether git works in a directory of longterm's, or creates one there.
func (s *shellState) gitWorksInOwnDir(x *invocation) bool {
	if place := s.gitDirs(x)[0]; place != "." && s.isOwnFile(place) {
		return len(x.words) > 1 && !gitReaders.has(x.words[1])
	}
	return len(x.words) > 1 && slices.Contains([]string{"clone", "init", "worktree", "archive", "bundle", "format-patch"}, x.words[1]) &&
		slices.ContainsFunc(x.argv[2:], func(a string) bool { return strings.Contains(a, "/") && s.isOwnFile(a[strings.IndexByte(a, '=')+1:]) })
}

// ownInCode requires approval for code that names longterm's files or sockets.
func (cr *codeReader) ownInCode(text string, x *invocation) {
	if cr.engine.preset != Off && (strings.Contains(text, "cgroup.freeze") || strings.Contains(text, "cgroup.kill")) && cgroupWriter.MatchString(text) {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:longterm", "its code may stop or end all processes of a cgroup, longterm's among them perhaps")
		cr.record(c)
	}
	if cr.engine.preset == Off || !strings.Contains(text, "longterm") && !strings.Contains(text, "LONGTERM_DIR") &&
		!slices.ContainsFunc(cr.engine.own, func(p string) bool { return strings.Contains(text, p) }) {
		return
	}
	names := func(p string) bool {
		in := p[1 : len(p)-1]
		return strings.ContainsAny(in, "/") && cr.isOwnFile(strings.Replace(in, "~", cr.home, 1)) || in == "LONGTERM_DIR"
	}
	if slices.ContainsFunc(literal.FindAllString(text, 200), names) {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:longterm", "its code names longterm's own files")
		cr.record(c)
	}
}

// cgroupWriter finds code that may write a file.
var cgroupWriter = pattern.Lazy(`(?i)write|open\([^()]*,\s*['"][^'"]*[wa+]|>|O_WRONLY|O_RDWR|\bput_contents`)

// Reasons and hints for signals to longterm's own processes.
const (
	whyStop = "it ends or stops longterm's own processes, and all sessions with them"
	useStop = "`longterm kill NAME` ends a session; a user ends longterm with `longterm daemon stop`"
	whyAll  = "it ends all that the user runs"

	whySessions = "it ends each shell or login of the user, and what runs in it"
)

// sessionPrograms are the programs of sessions and logins.
const sessionPrograms = words("sh bash dash zsh fish ksh mksh login sshd systemd init dbus-daemon Xorg Xwayland gnome-shell")

// coversSessions reports whether a name or pattern covers all such programs, without a restriction.
func coversSessions(x *invocation, name string) bool {
	return sessionPrograms.has(strings.Trim(name, "^$")) && !x.args.Has("-P", "--parent", "-t", "--terminal", "-g", "--pgroup", "-s", "--session", "-F", "--pidfile", "-n", "-o")
}

// daemonLines are the command lines of longterm's processes.
var daemonLines = []string{"longterm daemon serve", "longterm keeper --socket /run/user/1000/longterm/keepers/main.sock --key main --daemon"}

// judgeSignals judges programs that send signals, and records those that print the number of a longterm process. The meaning
// of a number on the line is only known at run time; the kernel's check covers it.
func (h *hardRules) judgeSignals(c *Command, x *invocation) {
	ops := x.args.Operands
	if x.name == "pkill" || x.name == "killall" { // -STOP is no row of letters
		ops = x.row.Parse(slices.DeleteFunc(slices.Clone(x.argv[1:]), isSignal)).Operands
	}
	switch x.name {
	case "pgrep", "pidof", "pidwait", "lsof":
		h.printsOwnPID = h.printsOwnPID || slices.ContainsFunc(x.argv[1:], func(a string) bool {
			return !strings.HasPrefix(a, "-") && (h.isOwnFile(a) || namesLongterm(x, a))
		})
	case "ps":
		h.printsOwnPID = h.printsOwnPID || slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "longterm") })
	case "grep", "egrep", "rg", "awk", "gawk", "mawk", "sed":
		h.printsOwnPID = h.printsOwnPID || x.in.set && slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "longterm") })
	case "cat", "head", "tail", "jq":
		h.printsOwnPID = h.printsOwnPID || slices.ContainsFunc(ops, h.isOwnFile)
	case "kill", "skill":
		switch {
		case isProbe(x):
		case len(x.argv) > 2 && x.argv[len(x.argv)-1] == "-1", x.name == "skill" && slices.Contains(x.argv, "-u"), slices.ContainsFunc(ops, isEveryProcess):
			h.ask(c, "hard:kill", "it ends every process of the user")
		case slices.Contains(ops, "1"):
			h.ask(c, "hard:system", "it signals the process that keeps the machine running")
		case h.printsOwnPID && slices.ContainsFunc(x.argv[1:], hasHole):
			h.deny(c, "hard:longterm", whyStop, useStop)
		case h.parent && slices.ContainsFunc(x.argv[1:], hasHole):
			h.ask(c, "hard:longterm", "it may end the process that keeps all sessions")
		}
	case "gdb", "lldb", "strace", "ltrace", "gcore", "dlv", "reptyr", "prlimit", "taskset", "renice", "perf":
		if h.printsOwnPID && slices.ContainsFunc(x.argv[1:], hasHole) {
			h.ask(c, "hard:longterm", "it may stop longterm's own processes, or look into them")
		}
	case "loginctl":
		if len(ops) > 0 && (strings.HasPrefix(ops[0], "terminate-") || strings.HasPrefix(ops[0], "kill-")) {
			h.ask(c, "hard:kill", whyAll)
		}
	case "busctl", "gdbus", "dbus-send":
		if slices.ContainsFunc(x.argv[1:], func(a string) bool {
			return strings.HasPrefix(strings.TrimPrefix(a, "string:"), "longterm") || strings.Contains(a, "login1.Manager.Terminate") || strings.Contains(a, "login1.Manager.Kill")
		}) {
			h.ask(c, "hard:longterm", "it may stop longterm's own processes")
		}
	case "killall5":
		h.ask(c, "hard:kill", "it ends every process")
	case "pkill":
		switch {
		case isProbe(x):
		case x.args.Has("-v", "--inverse"):
			h.ask(c, "hard:kill", "it ends every process but some")
		case len(ops) > 0 && strings.Trim(ops[len(ops)-1], ".*^$") == "":
			h.ask(c, "hard:kill", "it ends every process")
		case len(ops) > 0 && namesLongterm(x, ops[len(ops)-1]):
			h.deny(c, "hard:longterm", whyStop, useStop)
		case len(ops) > 0 && coversSessions(x, ops[len(ops)-1]):
			h.ask(c, "hard:kill", whySessions)
		case len(ops) == 0 && x.args.Has("-P", "--parent") && slices.Contains(x.argv, "1"):
			h.ask(c, "hard:kill", "longterm's own processes are among the children of the first one")
		case len(ops) == 0:
			h.signalAll(c, x)
		}
	case "killall":
		switch {
		case isProbe(x):
		case slices.ContainsFunc(ops, func(o string) bool { return namesLongterm(x, o) }):
			h.deny(c, "hard:longterm", whyStop, useStop)
		case slices.ContainsFunc(ops, func(o string) bool { return coversSessions(x, o) }):
			h.ask(c, "hard:kill", whySessions)
		case len(ops) == 0 || x.args.Has("-u", "--user"):
			h.signalAll(c, x)
		}
	case "fuser":
		if !x.args.Has("-k", "--kill") {
			return
		}
		if slices.ContainsFunc(ops, h.isOwnFile) {
			h.deny(c, "hard:longterm", whyStop, useStop)
		} else if x.args.Has("-m", "--mount", "-M") || slices.Contains(ops, "/") {
			h.ask(c, "hard:kill", whyAll)
		}
	case "systemctl":
		if len(ops) > 1 && slices.Contains([]string{"stop", "kill", "restart", "freeze", "disable", "mask"}, ops[0]) &&
			slices.ContainsFunc(ops[1:], func(o string) bool { return strings.HasPrefix(o, "longterm") }) {
			h.deny(c, "hard:longterm", whyStop, useStop)
		} else if len(ops) > 1 && (ops[0] == "stop" || ops[0] == "kill" || ops[0] == "freeze") && slices.ContainsFunc(ops[1:], func(o string) bool {
			return strings.HasPrefix(o, globStar) || strings.HasPrefix(o, "*") || strings.HasPrefix(o, "user@") || strings.HasPrefix(o, "user.") || strings.HasPrefix(o, "user-") || strings.HasPrefix(o, "session-")
		}) {
			h.ask(c, "hard:kill", whyAll)
		}
	}
}

// everyProcess stands for the numbers of all processes, or of all processes of a user.
const everyProcess = hole + someText + hole

// isEveryProcess reports whether a word is everyProcess, in quotes or not, or all the names in /proc.
func isEveryProcess(word string) bool {
	return strings.Contains(strings.ReplaceAll(word, hole, someText), someText+someText+someText) || word != "" && strings.Trim(strings.TrimPrefix(word, procDir+"/"), globs) == ""
}

// printsAllPIDs reports whether a command prints the process numbers of all processes, or forwards all its input.
func printsAllPIDs(x *invocation) bool {
	args := x.argv[1:]
	switch x.name {
	case "ps":
		some, all := false, false
		for _, a := range args {
			letters := strings.TrimPrefix(a, "-")
			some = some || strings.HasPrefix(a, "--") && a != "--no-headers" && a != "--no-heading" && !strings.HasPrefix(a, "--sort") && !strings.HasPrefix(a, "--format") ||
				strings.HasPrefix(a, "-") && strings.ContainsAny(letters[:min(1, len(letters))], "pCqgst") || strings.Trim(a, "0123456789") == ""
			all = all || a != "-" && (strings.HasPrefix(a, "-") && strings.ContainsAny(letters[:min(1, len(letters))], "eAauU") || a == "aux" || a == "ax" || a == "axu" || a == "x" || strings.HasPrefix(a, "axo"))
		}
		return all && !some
	case "pgrep":
		ops := x.args.Operands
		return x.args.Has("-v", "--inverse") || len(ops) == 0 && x.args.Has("-u", "-U", "--euid", "--uid") ||
			len(ops) == 1 && (strings.Trim(ops[0], ".*^$") == "" || coversSessions(x, ops[0]))
	case "pidof":
		return slices.ContainsFunc(args, func(a string) bool { return coversSessions(x, a) })
	case "lsof", "fuser":
		return slices.Contains(args, "/")
	case "pstree":
		return x.args.Has("-p") && len(x.args.Operands) == 0
	case "top":
		return x.args.Has("-b") && !x.args.Has("-p")
	case "ls", "dir", "find":
		return len(x.args.Operands) > 0 && strings.TrimSuffix(x.args.Operands[0], "/") == procDir
	}
	return x.in.set && strings.Contains(x.in.text, everyProcess) && passesAll(x)
}

// passesAll reports whether a filter forwards all input, or a part of each line, except a few lines.
func passesAll(x *invocation) bool {
	switch x.name {
	case "cut", "tr", "sort", "uniq", "tac", "rev", "column", "tee", "cat", "head", "tail", "sed", "shuf", "pv", "paste", "string":
		return true
	case "awk", "gawk", "mawk": // without a condition, except on the line number
		code := strings.TrimSpace(strings.Join(x.args.Operands, " "))
		return strings.HasPrefix(strings.TrimLeft(code, "NR >!=&0123456789"), "{") && !strings.ContainsAny(code, "/~")
	case "grep", "egrep", "rg": // all but some, or every number
		pattern := strings.Join(x.args.Operands, " ")
		return x.args.Has("-v", "--invert-match") || strings.Trim(pattern, `^$[]0-9+*\dEoP `) == ""
	}
	return false
}

// signalAll requires approval for signals to all processes of a user.
func (h *hardRules) signalAll(c *Command, x *invocation) {
	if x.args.Has("-u", "-U", "--user", "--euid", "--uid") {
		h.ask(c, "hard:kill", whyAll)
	}
}

// isSignal reports whether a word is a signal as an option: -9, -STOP.
func isSignal(a string) bool {
	name, ok := strings.CutPrefix(a, "-")
	return ok && len(name) > 0 && (strings.Trim(name, "0123456789") == "" || len(name) > 2 && name == strings.ToUpper(name) && name[0] != '-')
}

// isProbe reports whether the signal only tests that a process exists.
func isProbe(x *invocation) bool {
	for i, a := range x.argv[1:] {
		if a == "-0" || a == "-l" || a == "-L" || a == "--list" || (a == "-s" || a == "-n" || a == "--signal") && len(x.argv) > i+2 && x.argv[i+2] == "0" {
			return true
		}
	}
	return false
}

// namesLongterm reports whether a name or pattern of pkill, pgrep, killall or pidof is about longterm's processes.
func namesLongterm(x *invocation, name string) bool {
	if name == "" || hasHole(name) || len(name) > 256 {
		return false
	}
	name = strings.NewReplacer(globStar, "*", globOne, "?").Replace(name)
	patterns := x.name == "pkill" || x.name == "pgrep" || x.name == "pidwait" || x.name == "killall" && x.args.Has("-r", "--regexp")
	if !patterns {
		return name == "longterm" || strings.HasSuffix(name, "/longterm")
	}
	if x.args.Has("-x", "--exact") {
		name = "^(?:" + name + ")$"
	}
	if x.args.Has("-i", "-I", "--ignore-case") {
		name = "(?i)" + name
	}
	re, err := regexp.Compile(name)
	if err != nil {
		return strings.Contains(name, "longterm")
	}
	if x.name != "killall" && x.args.Has("-f", "--full") {
		return slices.ContainsFunc(daemonLines, re.MatchString)
	}
	return re.MatchString("longterm")
}

// selectsMany reports whether an option of longterm selects many sessions.
func selectsMany(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return name == "--all" || name == "-a" || name == "--label"
}

// ownSettings requires approval before a program changes longterm's permissions for it.
func (h *hardRules) ownSettings(c *Command, x *invocation) {
	if x.row != nil {
		if reads, _ := x.row.ReadsOnly(&x.args); reads {
			return
		}
	}
	line := joinWords(x.argv[1:])
	if ops := x.args.Operands; len(ops) > 1 {
		switch ops[0] {
		case "run", "new", "exec", "send", "type":
			for _, o := range ops[1:] {
				if strings.Contains(o, " ") {
					h.judgePossibleShell(o, "longterm "+ops[0])
				}
			}
			if !slices.ContainsFunc(ops[1:], func(o string) bool { return strings.Contains(o, " ") }) {
				h.guesses.guess(ops[1:])
			}
		case "tape":
			if !x.args.Has("--check") {
				h.ask(c, "hard:longterm", "it types a file into another shell, whose lines are not checked")
			}
		}
	}
	for i, a := range x.argv[1:] { // lines that the command line itself runs, when something ended
		switch how, text, _ := strings.Cut(a, "="); {
		case how == "--notify":
			if text, is := strings.CutPrefix(text, "command="); is {
				h.shellText(text, "longterm --notify")
			}
		case how == "--each" && text != "":
			h.shellText(text, "longterm --each")
		case strings.HasPrefix(a, "command=") && x.argv[i] == "--notify":
			h.shellText(a[len("command="):], "longterm --notify")
		case x.argv[i] == "--each":
			h.shellText(a, "longterm --each")
		}
	}
	if slices.Contains(x.argv[1:], "kill") && slices.ContainsFunc(x.argv[1:], selectsMany) { // any word before the verb
		h.ask(c, "hard:longterm", "it ends every session, or all that have a label")
	}
	if slices.Contains(x.argv[1:], "rm") && slices.ContainsFunc(x.argv[1:], selectsMany) {
		h.ask(c, "hard:longterm", "it removes what sessions have printed")
	}
	for _, word := range []string{"policy", "approve", "approval", "--yes", "config set", "daemon stop", "daemon restart",
		"daemon upgrade", "kill-daemon", "shutdown"} {
		if strings.Contains(line, word) {
			h.ask(c, "hard:longterm", "it changes what longterm allows, or stops it")
		}
	}
}
