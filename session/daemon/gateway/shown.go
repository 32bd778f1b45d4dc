package gateway

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/sys"
)

// What a person allowed once is the programs that he was shown, and no others of their names: ./tool is the file that it was
// when he answered, and git is one that names lead to, not /tmp/x/git.

// shownCommand is a command that a person saw, and the file that it means.
type shownCommand struct {
	argv []string
	file string // empty: it was named without a directory
}

// shownTo are the commands that a person saw who allowed an asking. One that rules allow by its words is among them: its
// file may be asked about when it is executed, and the person has answered for that command.
func shownTo(a *Ask, j *policy.Judgement) (all []shownCommand) {
	for _, c := range j.Commands {
		if c.Verdict != policy.Deny && len(c.Argv) > 0 && !slices.Contains(c.Argv, unknownMark) {
			all = append(all, shownCommand{c.Argv, fileOf(c.Argv[0], firstOf(c.Dir, a.Cwd))})
		}
	}
	return all
}

// filesShown are the files that a line names as programs, and those that it has interpreters run, as they are; the programs of
// commands and executions are held to theirs when they start.
func filesShown(a *Ask, j *policy.Judgement) map[string]string {
	if a.Kind != Line && a.Kind != Command {
		return nil
	}
	files := map[string]string{}
	shown := j.Commands[:min(len(j.Commands), maxShown)]
	for _, c := range shown {
		if len(c.Argv) > 0 && c.Argv[0] != ">" && c.Argv[0] != "<" && (a.Kind == Line || a.Line != "") {
			hold(files, fileOf(c.Argv[0], firstOf(c.Dir, a.Cwd)))
		}
	}
	holdScripts(files, shown, a)
	if len(files) == 0 {
		return nil
	}
	return files
}

// sayChanged has a person told of the files that a line changes itself before it runs them, beside what is asked about these,
// and returns them: as they are now nobody runs them.
func sayChanged(a *Ask, j *policy.Judgement) (own []string) {
	if len(j.Changes) == 0 || a.Kind != Line && a.Kind != Command {
		return nil
	}
	commands := slices.Clone(j.Commands)
	for i, c := range commands[:min(len(commands), maxShown)] {
		if c.Verdict != policy.Ask || len(c.Argv) == 0 {
			continue
		}
		file := changedBefore(a, j, i)
		if file == "" {
			continue
		}
		why := c.Why + "; this line changes " + inLine(file) + " first, and runs it as it is by then"
		if j.Why == c.Why {
			j.Why = why
		}
		commands[i].Why, own = why, append(own, file)
	}
	j.Commands = commands
	return own
}

// changedBefore is a file that the i-th command of a line runs, and that the line changes before; empty: none.
func changedBefore(a *Ask, j *policy.Judgement, i int) string {
	c, runs := &j.Commands[i], map[string]string{}
	holdFirst(runs, c.Argv[:1], firstOf(c.Dir, a.Cwd)) // a script that a shell was given stands there without its directory, too
	holdScripts(runs, j.Commands[i:i+1], &Ask{Cwd: a.Cwd})
	for _, ch := range j.Changes {
		file := fileOf(ch.File, "")
		for shown := range runs {
			if ch.Before <= i && fileOf(shown, "") == file {
				return shown
			}
		}
	}
	return ""
}

// hold notes a file as it is, if there is one.
func hold(files map[string]string, file string) (is bool) {
	id := sys.FileID(file)
	if file == "" || id == "" {
		return false
	}
	files[file] = id
	return true
}

// runsFiles are programs that run what stands in a file that their words name, or in what is written to them.
var runsFiles = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "source", ".", "python", "pypy", "perl", "ruby", "node", "deno", "bun", "php", "lua",
	"luajit", "Rscript", "tclsh", "wish", "expect", "pwsh", "powershell", "guile", "osascript",
}

// holdScripts notes the files that interpreters are given to run. Where one is given none, it runs what is written to it: then
// all files that the line reads may be that.
func holdScripts(files map[string]string, commands []policy.Command, a *Ask) {
	fed := false
	for _, c := range commands {
		if len(c.Argv) > 0 && slices.Contains(runsFiles, versionless(c.Argv[0])) {
			fed = !holdFirst(files, c.Argv[1:], firstOf(c.Dir, a.Cwd)) || fed
		}
	}
	if !fed {
		return
	}
	for _, c := range commands {
		if len(c.Argv) > 1 && c.Argv[0] != ">" {
			holdFirst(files, c.Argv[1:], firstOf(c.Dir, a.Cwd))
		}
	}
	for _, from := range strings.Split(a.Line, "<")[1:] {
		if words := strings.Fields(from); len(words) > 0 {
			holdFirst(files, words[:1], a.Cwd)
		}
	}
}

// versionless is a program's name: python of /usr/bin/python3.12.
func versionless(program string) string {
	name := filepath.Base(program)
	return firstOf(strings.TrimRight(name, "0123456789."), name)
}

// holdFirst notes the first word that is a file.
func holdFirst(files map[string]string, words []string, cwd string) (is bool) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") || w == "" {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(cwd, w)
		}
		if st, err := os.Stat(w); err == nil && st.Mode().IsRegular() {
			return hold(files, w)
		}
	}
	return false
}

// swapped is one of the files that a person was shown which is another one by now; empty: all are as they were.
func swapped(files map[string]string) string {
	for file, id := range files {
		if sys.FileID(file) != id {
			return file
		}
	}
	return ""
}

// refuseSwapped refuses what was allowed for another file.
func (g *Gateway) refuseSwapped(ctx context.Context, a *Ask, file string) error {
	return errors.Join(Swapped(file), g.audit(ctx, Record{Ask: *a, Actor: a.Actor, Verdict: policy.Deny, Rule: ruleChanged}))
}

// still refuses an agent's line that would do something else by now than when it was asked about: its shell has gone to another
// directory, or other lines have given its words another meaning.
func (p *Pending) still(ctx context.Context) error {
	if p.a.Kind != Line || !held(&p.a.Actor) || p.a.readCode() {
		return nil
	}
	now := p.a
	if p.g.c.Cwd != nil {
		now.Cwd = firstOf(p.g.c.Cwd(p.a.Session), p.a.Cwd)
	}
	what := ""
	if now.Cwd != p.a.Cwd && linkless(now.Cwd) != linkless(p.a.Cwd) {
		what = "its shell is in " + inLine(now.Cwd) + " now, and was in " + inLine(firstOf(p.a.Cwd, "a directory that is not known"))
	} else if j := p.g.JudgeAgain(ctx, now); !sameCommands(p.j.Commands, j.Commands) {
		what = "other lines have been run in its shell, and it means something else now than"
	}
	if what == "" {
		return nil
	}
	return api.Errorf(api.CodeDenied, "Blocked: %s when it was asked about", what).WithHint("nothing was run; give the line again: it is judged as it is now")
}

// linkless is a directory without links in its name, as far as it is there.
func linkless(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir
	}
	return real
}

// sameCommands reports whether commands are those that were shown, as far as these were known.
func sameCommands(shown, now []policy.Command) bool {
	return slices.EqualFunc(shown, now, func(a, b policy.Command) bool {
		return slices.EqualFunc(a.Argv, b.Argv, func(a, b string) bool { return a == b || a == unknownMark })
	})
}

// Swapped is the refusal of what a person allowed, or was asked about, for another file.
func Swapped(file string) *api.Error {
	return api.Errorf(api.CodeDenied, "Blocked: %s is another file now than when it was asked about", inLine(file)).
		WithHint("nothing was run; look what has changed it, and run it again: it is judged as it is now")
}

// fileOf is the file that a word means as a program, without links in its directory; empty: a name alone.
func fileOf(word, dir string) string {
	if !strings.Contains(word, "/") {
		return ""
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	word = filepath.Clean(word)
	if real, err := filepath.EvalSymlinks(filepath.Dir(word)); err == nil {
		return filepath.Join(real, filepath.Base(word))
	}
	return word
}

// is reports whether the command that is asked about is the one that was shown: the same words, and the same file.
func (s *shownCommand) is(c *policy.Command, home string) bool {
	return len(s.argv) == len(c.Argv) && slices.Equal(s.argv[1:], c.Argv[1:]) && s.means(c.Argv[0], home) &&
		!slices.Contains(c.Argv, unknownMark)
}

// means reports whether a program, by the file that is executed, is the one that was shown.
func (s *shownCommand) means(program, home string) bool {
	if filepath.Base(s.argv[0]) != filepath.Base(program) {
		return s.leadsTo(program)
	}
	switch named := !strings.Contains(program, "/"); {
	case s.file == "":
		return named || namesLead(program, home)
	case named:
		return ofSystem(s.file)
	default:
		return s.file == program || s.file == fileOf(program, "") || ofSystem(s.file) && ofSystem(program)
	}
}

// programDirs hold the system's programs. On many systems one is a link to another.
var programDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/run/current-system/sw/bin"}

func ofSystem(file string) bool { return slices.Contains(programDirs, filepath.Dir(file)) }

var (
	// installedBelow are where packages put programs.
	installedBelow = []string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/store/", "/snap/", "/run/current-system/"}
	// ownBelow are where people have programs, below their homes: their own, and those of managers of versions.
	ownBelow = []string{"bin/", ".local/bin/", "go/bin/", ".cargo/bin/", ".bun/bin/", ".deno/bin/", ".pyenv/", ".rbenv/", ".nodenv/", ".goenv/", ".jenv/",
		".asdf/", ".local/share/mise/", ".volta/", ".nvm/", ".rustup/", ".sdkman/", "sdk/go"}
)

// namesLead reports whether a program's bare name usually leads to a file: it is where packages put programs, where people
// have their own, or on our PATH. Which PATH a shell has is not known; who made a file of that name elsewhere is asked about it.
func namesLead(file, home string) bool {
	below := func(dir string) bool { return strings.HasPrefix(file, dir) }
	for _, h := range []string{home, account()} {
		if h != "" && slices.ContainsFunc(ownBelow, func(dir string) bool { return below(strings.TrimSuffix(h, "/") + "/" + dir) }) {
			return true
		}
	}
	return slices.ContainsFunc(installedBelow, below) ||
		filepath.IsAbs(file) && slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(file))
}

// leadsTo reports whether a program is the system's interpreter that the shown name is a link to, as sh is to dash: the name
// of what is executed is another one then.
func (s *shownCommand) leadsTo(program string) bool {
	name := filepath.Base(s.argv[0])
	if s.file != "" && !ofSystem(s.file) || !ofSystem(program) || !slices.Contains(runsFiles, name) || !slices.Contains(runsFiles, filepath.Base(program)) {
		return false
	}
	real := realFile(program)
	return slices.ContainsFunc(programDirs, func(dir string) bool { return realFile(filepath.Join(dir, name)) == real })
}
