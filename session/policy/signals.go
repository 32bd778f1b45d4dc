package policy

import (
	"regexp"
	"slices"
	"strings"
)

// The sentences about signals to longterm's own processes.
const (
	whyStop = "it ends or stops longterm's own processes, and all sessions with them"
	useStop = "`longterm kill NAME` ends a session; a person ends longterm with `longterm daemon stop`"
	whyAll  = "it ends all that the user runs"
)

// daemonLines are how longterm's processes are called: by name, and with all their words.
var daemonLines = []string{"longterm daemon serve", "longterm keeper --socket /run/user/1000/longterm/keepers/main.sock --key main --daemon"}

// signals judges programs that send signals, and notes those that say which number a process of longterm's has. What a
// number means that stands on the line is known only when it runs: there the kernel is asked.
func (w *walk) signals(c *Command, x *invocation) {
	ops := x.args.Operands
	if x.name == "pkill" || x.name == "killall" { // -STOP is no row of letters
		ops = x.row.Parse(slices.DeleteFunc(slices.Clone(x.argv[1:]), isSignal)).Operands
	}
	switch x.name {
	case "pgrep", "pidof", "pidwait", "lsof":
		w.ownNumber = w.ownNumber || slices.ContainsFunc(x.argv[1:], func(a string) bool {
			return !strings.HasPrefix(a, "-") && (w.ownPlace(a) || namesUs(x, a))
		})
	case "grep", "egrep", "rg", "awk", "gawk", "mawk", "sed":
		w.ownNumber = w.ownNumber || x.in.is && slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "longterm") })
	case "cat", "head", "tail", "jq":
		w.ownNumber = w.ownNumber || slices.ContainsFunc(ops, w.ownPlace)
	case "kill", "skill":
		switch {
		case probes(x):
		case len(x.argv) > 2 && x.argv[len(x.argv)-1] == "-1":
			w.ask(c, "hard:kill", "it ends every process of the user")
		case w.ownNumber && slices.ContainsFunc(x.argv[1:], hasHole):
			w.deny(c, "hard:longterm", whyStop, useStop)
		}
	case "killall5":
		w.ask(c, "hard:kill", "it ends every process")
	case "pkill":
		switch {
		case probes(x):
		case len(ops) > 0 && strings.Trim(ops[len(ops)-1], ".*^$") == "":
			w.ask(c, "hard:kill", "it ends every process")
		case len(ops) > 0 && namesUs(x, ops[len(ops)-1]):
			w.deny(c, "hard:longterm", whyStop, useStop)
		case len(ops) == 0:
			w.everyone(c, x)
		}
	case "killall":
		switch {
		case probes(x):
		case slices.ContainsFunc(ops, func(o string) bool { return namesUs(x, o) }):
			w.deny(c, "hard:longterm", whyStop, useStop)
		case len(ops) == 0 || x.args.Has("-u", "--user"):
			w.everyone(c, x)
		}
	case "fuser":
		if !x.args.Has("-k", "--kill") {
			return
		}
		if slices.ContainsFunc(ops, w.ownPlace) {
			w.deny(c, "hard:longterm", whyStop, useStop)
		} else if x.args.Has("-m", "--mount", "-M") || slices.Contains(ops, "/") {
			w.ask(c, "hard:kill", whyAll)
		}
	case "systemctl":
		if len(ops) > 1 && slices.Contains([]string{"stop", "kill", "restart", "freeze", "disable", "mask"}, ops[0]) &&
			slices.ContainsFunc(ops[1:], func(o string) bool { return strings.HasPrefix(o, "longterm") }) {
			w.deny(c, "hard:longterm", whyStop, useStop)
		}
	}
}

// everyone asks about signals to all processes of a user.
func (w *walk) everyone(c *Command, x *invocation) {
	if x.args.Has("-u", "-U", "--user", "--euid", "--uid") {
		w.ask(c, "hard:kill", whyAll)
	}
}

// isSignal reports a signal as an option: -9, -STOP.
func isSignal(a string) bool {
	name, ok := strings.CutPrefix(a, "-")
	return ok && len(name) > 0 && (strings.Trim(name, "0123456789") == "" || len(name) > 2 && name == strings.ToUpper(name) && name[0] != '-')
}

// probes reports a signal that is none: it asks whether a process is there.
func probes(x *invocation) bool {
	for i, a := range x.argv[1:] {
		if a == "-0" || a == "-l" || a == "-L" || a == "--list" || (a == "-s" || a == "-n" || a == "--signal") && len(x.argv) > i+2 && x.argv[i+2] == "0" {
			return true
		}
	}
	return false
}

// namesUs reports whether a name or pattern of pkill, pgrep, killall or pidof is about longterm's processes.
func namesUs(x *invocation, name string) bool {
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
