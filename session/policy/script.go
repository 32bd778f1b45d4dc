package policy

import (
	"path"

	"github.com/longterm-dev/longterm/session/policy/programs"
	"strings"
)

// script judges sh with its own options, and source.
func (w *walk) script(operands []string, x *invocation) stream {
	out := stream{text: hole, is: true}
	if x.name == "crontab" {
		return out
	}
	rest := x.argv[1:]
	if shellOption(x.args, "c") && x.row.Lang == "sh" && x.name != "source" && x.name != "." {
		if len(operands) == 0 {
			return out
		}
		x.children = true
		args := w.args
		w.args = operands[min(len(operands), 2):]
		defer func() { w.args = args }()
		feed := w.feed
		defer func() { w.feed = feed }()
		w.feed = x.in
		return w.shellText(operands[0], x.name)
	}
	if x.name != "fish" || !x.children {
		switch {
		case len(operands) > 0 && !shellOption(x.args, "s") && operands[0] != "-":
			x.children = true
			if text, ok := w.pipes[operands[0]]; ok {
				return w.shellText(text, x.name)
			}
			if m, ok := w.madeAt(operands[0]); ok && m.source == "" {
				return w.runText(m.text, operands, x.in)
			}
			if operands[0] == "/dev/stdin" && x.in.is {
				return w.shellText(x.in.text, x.name)
			}
			if !usualSource(x.name, operands[0]) {
				w.unknown(x.argv, "it runs commands from a file that is not judged")
			}
		case x.in.is && x.name != "source" && x.name != ".":
			x.children = true
			return w.shellText(x.in.text, x.name)
		}
	}
	if v, ok := x.args.Get("--rcfile", "--init-file"); ok {
		w.unknown(rest, "shells run the file "+v)
	}
	return out
}

// shellOption reports whether a one-letter option is given, perhaps in a cluster.
func shellOption(a programs.Args, letter string) bool { return a.Has("-" + letter) }

// usualSource reports files that people source every day.
func usualSource(name, file string) bool {
	if name != "source" && name != "." {
		return false
	}
	base := path.Base(file)
	switch base {
	case "activate", "activate.fish", ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile",
		".zshenv", "nvm.sh", ".envrc", "cargo-env":
		return true
	}
	return strings.HasSuffix(file, "/.cargo/env") || file == "/etc/profile" || file == "/etc/os-release"
}
