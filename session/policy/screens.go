package policy

import (
	"path"
	"slices"
	"strings"
)

// fullScreenPrograms are programs that take the whole screen and wait for keys. Without a terminal they hang, fail, or fill the
// output with control sequences, so callers without a terminal may not run them.
var fullScreenPrograms = fieldSet("vim vi nvim view vimdiff gvim emacs nano pico micro helix hx kak joe mcedit ne jed less more most zless " +
	"top htop btop atop iotop iftop nethogs bmon glances nvtop powertop bpytop tmux screen byobu zellij mc ranger nnn lf vifm " +
	"ncdu tig lazygit gitui lazydocker k9s lynx w3m links elinks mutt neomutt alpine irssi weechat cmus cfdisk cgdisk dialog " +
	"whiptail fzf sk gum alsamixer nmtui watch telnet visudo vipw vigr info man bc-x crontab-e aptitude dselect gdbtui cgdb")

// FullScreenCommand returns the first command of a line that takes the whole screen, or "". It uses the parsed line: it finds sudo
// vim, FOO=1 vim and a | less, but not echo vim or vim --version.
//
// Programs that can work without a terminal count only if they do not: less and man in a pipe to other commands print
// (man x | cat), vim -es and emacs --batch run a script, top -b prints, tmux new -d starts in the background. ssh
// counts without a command. An editor that another program starts (git commit without -m, crontab -e, visudo) counts if
// the options imply it, unless the line names another editor, as in GIT_EDITOR=true git commit --amend. Configuration
// and environment are unknown here.
func FullScreenCommand(l Line) string {
	e := &Engine{preset: Off}
	w := newAnalyzer(e, l)
	found := ""
	w.visit = func(x *invocation, last bool) {
		if x.name == "env" {
			for _, a := range x.argv[1:] {
				if name, text, ok := strings.Cut(a, "="); ok && strings.HasSuffix(name, "EDITOR") {
					w.scope.put(name, text)
				}
			}
		}
		if found == "" && isFullScreen(x, last) && !w.setsOtherEditor(x) {
			found = joinWords(x.argv)
		}
	}
	func() {
		defer func() { _ = recover() }() // lines that cannot be judged pass here: policy requires approval for them
		w.line(l)
	}()
	return found
}

// setsOtherEditor reports whether the line sets an editor that takes no screen.
func (sh *shellState) setsOtherEditor(x *invocation) bool {
	if x.name != "git" && x.name != "crontab" {
		return false
	}
	for _, name := range []string{"GIT_SEQUENCE_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"} {
		if v := sh.scope.get(name); v.set && (x.name == "git" || !strings.HasPrefix(name, "GIT_")) {
			program, _, _ := strings.Cut(v.text, " ")
			return program != "" && !hasHole(program) && !fullScreenPrograms.has(path.Base(program))
		}
	}
	return false
}

// FullScreenAlternative suggests what a caller without a terminal can do instead of a command that Screen returned.
func FullScreenAlternative(words string) string {
	terminal := "use a terminal: omit --pipe, or start it with `longterm new` and use `longterm send` and `longterm screen`"
	argv := strings.Fields(words)
	if len(argv) == 0 {
		return terminal
	}
	other := ""
	switch path.Base(argv[0]) {
	case "less", "more", "most", "zless":
		other = "read the file with cat, head or tail"
	case "man", "info":
		other = "add `| cat`"
	case "git":
		switch argv[min(1, len(argv)-1)] {
		case "commit":
			other = "give the message with -m, or --no-edit, or set GIT_EDITOR=true in the line"
		case "rebase":
			other = "omit -i, or set GIT_SEQUENCE_EDITOR on the line to a program that edits the list"
		case "add", "checkout", "reset", "restore", "stash":
			other = "name files instead of -p and -i, or give a patch to `git apply --cached`"
		default:
			return terminal
		}
	case "crontab":
		other = "read with `crontab -l`, and install a file with `crontab FILE`"
	case "top", "htop", "atop", "btop":
		other = "use `top -b -n1` or ps"
	case "watch":
		other = "run its command by itself"
	case "tmux", "screen":
		other = "start it in the background (tmux new -d, screen -dm)"
	case "ssh", "mosh":
		other = "give ssh the command that it is to run"
	case "vim", "vi", "nvim", "view", "ex", "nano", "emacs", "pico", "micro", "helix", "hx", "kak", "joe":
		other = "change files with a program that takes its instructions as arguments (sed -i, patch, tee)"
	default:
		return terminal
	}
	return other + "; or " + terminal
}

// isFullScreen reports whether a command takes the screen; last states that no other command reads its output.
func isFullScreen(x *invocation, last bool) bool {
	if len(x.argv) == 2 && slices.Contains([]string{"--version", "--help", "-V", "-h"}, x.argv[1]) {
		return false
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(x.argv[1:], func(a string) bool { return slices.Contains(options, a) })
	}
	clustered := func(letter string) bool {
		return slices.ContainsFunc(x.argv[1:], func(a string) bool {
			return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, letter)
		})
	}
	switch x.name {
	case "less", "more", "most", "zless":
		return last
	case "man", "info":
		return last && !clustered("k") && !clustered("w") && !clustered("f") && !has("-P", "--pager=cat", "-Pcat")
	case "vim", "vi", "nvim", "view", "vimdiff", "ex":
		return !clustered("s") && !has("--headless", "--version")
	case "emacs":
		return !has("--batch", "-batch", "--daemon")
	case "top", "htop", "atop":
		return !clustered("b")
	case "iotop":
		return !clustered("b")
	case "tmux", "screen", "zellij", "byobu":
		sub := ""
		if len(x.args.Operands) > 0 {
			sub = x.args.Operands[0]
		}
		switch {
		case x.name == "screen":
			return !clustered("d") && !clustered("l") && !clustered("X") && !has("-ls", "-list", "-wipe", "-v")
		case sub == "" || strings.HasPrefix(sub, "a"):
			return !has("-V")
		case strings.HasPrefix(sub, "new"):
			return sub != "new-window" && !clustered("d")
		}
		return false
	case "watch":
		return true
	case "ssh", "mosh":
		return len(x.args.Operands) == 1 && !clustered("N") && !clustered("f") && !clustered("T") && !x.in.set &&
			!has("-V", "-G", "-Q")
	case "git":
		if len(x.words) < 2 {
			return false
		}
		switch x.words[1] {
		case "commit":
			return !clustered("m") && !clustered("F") && !clustered("C") && !has("--no-edit", "--message", "--file", "--dry-run") &&
				!hasPrefix(x.argv, "--message=", "--file=", "--fixup", "--squash", "--reuse-message")
		case "checkout", "reset", "restore", "stash":
			return has("-p", "--patch") && !slices.Contains(x.argv, "show") && !slices.Contains(x.argv, "list") // which print it
		case "rebase", "add":
			return has("-i", "--interactive", "-p", "--patch", "-e", "--edit") && !has("--abort", "--continue")
		case "difftool", "mergetool", "gui":
			return true
		}
		return false
	case "crontab":
		return x.args.Has("-e")
	case "sudoedit":
		return true
	case "fzf", "sk":
		return !hasPrefix(x.argv, "-f", "--filter")
	}
	return fullScreenPrograms.has(x.name)
}

// hasPrefix reports whether argv starts with the words of one of the prefixes.
func hasPrefix(argv []string, prefixes ...string) bool {
	return slices.ContainsFunc(argv[1:], func(a string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(a, p) })
	})
}
