package authorize

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

// An approval covers the programs that the user saw, not others of the same name: ./tool is the file as it was at the
// answer, and git is one that its name leads to, not /tmp/x/git.

// shownCommand is a command that the user saw, and its file.
type shownCommand struct {
	argv []string
	file string // empty if named without a directory
}

// shownTo returns the commands that the user saw when allowing a request. It includes those that rules allow by their
// words: their files may need approval at execution, and the user has answered for that.
func shownTo(a *Request, j *policy.Judgement) (all []shownCommand) {
	for _, c := range j.Commands {
		if c.Verdict != policy.Deny && len(c.Argv) > 0 && !slices.Contains(c.Argv, unknownMark) {
			all = append(all, shownCommand{c.Argv, fileOf(c.Argv[0], firstNonEmpty(c.Dir, a.Cwd))})
		}
	}
	return all
}

// filesShown returns the files that a line names as programs or runs with interpreters, with their current ids.
// Commands and executions are bound to their program files when they start.
func filesShown(a *Request, j *policy.Judgement) map[string]string {
	if a.Kind != Line && a.Kind != Command {
		return nil
	}
	files := map[string]string{}
	shown := j.Commands[:min(len(j.Commands), maxShown)]
	for _, c := range shown {
		if len(c.Argv) > 0 && c.Argv[0] != ">" && c.Argv[0] != "<" && (a.Kind == Line || a.Line != "") {
			recordFile(files, fileOf(c.Argv[0], firstNonEmpty(c.Dir, a.Cwd)))
		}
	}
	recordScripts(files, shown, a)
	if len(files) == 0 {
		return nil
	}
	return files
}

// noteChangedFiles adds a note to commands whose files the line itself changes before running them, and returns these
// files, because their current content is not what runs.
func noteChangedFiles(a *Request, j *policy.Judgement) (own []string) {
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
		why := c.Why + "; this line changes " + oneLine(file) + " before it runs it"
		if j.Why == c.Why {
			j.Why = why
		}
		commands[i].Why, own = why, append(own, file)
	}
	j.Commands = commands
	return own
}

// changedBefore returns a file that the i-th command of a line runs and that the line changes earlier, or "".
func changedBefore(a *Request, j *policy.Judgement, i int) string {
	c, runs := &j.Commands[i], map[string]string{}
	recordFirstFile(runs, c.Argv[:1], firstNonEmpty(c.Dir, a.Cwd)) // a script operand of a shell is named without its directory too
	recordScripts(runs, j.Commands[i:i+1], &Request{Cwd: a.Cwd})
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

// recordFile adds a file with its ID to files, and reports whether the file exists.
func recordFile(files map[string]string, file string) (is bool) {
	id := sys.FileID(file)
	if file == "" || id == "" {
		return false
	}
	files[file] = id
	return true
}

// interpreters are programs that run a file named in their words, or code from their input.
var interpreters = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "source", ".", "python", "pypy", "perl", "ruby", "node", "deno", "bun", "php", "lua",
	"luajit", "Rscript", "tclsh", "wish", "expect", "pwsh", "powershell", "guile", "osascript",
}

// recordScripts adds the files that interpreters run to files. An interpreter without a file runs its input, which may
// be any file that the line reads.
func recordScripts(files map[string]string, commands []policy.Command, a *Request) {
	fed := false
	for _, c := range commands {
		if len(c.Argv) > 0 && slices.Contains(interpreters, versionless(c.Argv[0])) {
			fed = !recordFirstFile(files, c.Argv[1:], firstNonEmpty(c.Dir, a.Cwd)) || fed
		}
	}
	if !fed {
		return
	}
	for _, c := range commands {
		if len(c.Argv) > 1 && c.Argv[0] != ">" {
			recordFirstFile(files, c.Argv[1:], firstNonEmpty(c.Dir, a.Cwd))
		}
	}
	for _, from := range strings.Split(a.Line, "<")[1:] {
		if words := strings.Fields(from); len(words) > 0 {
			recordFirstFile(files, words[:1], a.Cwd)
		}
	}
}

// versionless returns a program's name without version: python for /usr/bin/python3.12.
func versionless(program string) string {
	name := filepath.Base(program)
	return firstNonEmpty(strings.TrimRight(name, "0123456789."), name)
}

// recordFirstFile adds the first word that is a file to files, and reports whether one is.
func recordFirstFile(files map[string]string, words []string, cwd string) (is bool) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") || w == "" {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(cwd, w)
		}
		if st, err := os.Stat(w); err == nil && st.Mode().IsRegular() {
			return recordFile(files, w)
		}
	}
	return false
}

// findSwapped returns a file that has changed since the user saw it, or "".
func findSwapped(files map[string]string) string {
	for file, id := range files {
		if sys.FileID(file) != id {
			return file
		}
	}
	return ""
}

// refuseSwapped refuses an action whose approval was for another file.
func (g *Gateway) refuseSwapped(ctx context.Context, a *Request, file string) error {
	return errors.Join(ErrSwapped(file), g.audit(ctx, Record{Request: *a, Actor: a.Actor, Verdict: policy.Deny, Rule: ruleChanged}))
}

// checkUnchanged rejects an agent's line that no longer does what the approval was for: its shell is in another
// directory, or other lines changed the meaning of its words.
func (p *Pending) checkUnchanged(ctx context.Context) error {
	if p.a.Kind != Line || !boundByPolicy(&p.a.Actor) || p.a.isReadByInterpreters() {
		return nil
	}
	now := p.a
	if p.g.c.Cwd != nil {
		now.Cwd = firstNonEmpty(p.g.c.Cwd(p.a.Session), p.a.Cwd)
	}
	what := ""
	if now.Cwd != p.a.Cwd && resolveDir(now.Cwd) != resolveDir(p.a.Cwd) {
		what = "its shell is in " + oneLine(now.Cwd) + " now, and was in " + oneLine(firstNonEmpty(p.a.Cwd, "a directory that is not known"))
	} else if j := p.g.Reevaluate(ctx, now); !sameCommands(p.j.Commands, j.Commands) {
		what = "other lines have been run in its shell, and it means something else now than"
	}
	if what == "" {
		return nil
	}
	return api.Errorf(api.CodeDenied, "Blocked: %s when the approval was requested", what).WithHint("nothing was run; submit the line again")
}

// resolveDir resolves the links in a directory's name, if it exists.
func resolveDir(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir
	}
	return real
}

// sameCommands reports whether commands match the shown ones; unknown words are ignored.
func sameCommands(shown, now []policy.Command) bool {
	return slices.EqualFunc(shown, now, func(a, b policy.Command) bool {
		return slices.EqualFunc(a.Argv, b.Argv, func(a, b string) bool { return a == b || a == unknownMark })
	})
}

// ErrSwapped returns the refusal of a file that changed after its approval or request.
func ErrSwapped(file string) *api.Error {
	return api.Errorf(api.CodeDenied, "Blocked: %s has changed since the approval was requested", oneLine(file)).
		WithHint("nothing was run; check what changed it and run it again")
}

// fileOf returns the file that a word means as a program, with its directory resolved, or "" for a name alone.
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

// matches reports whether a command is the one that was shown: same words, same file.
func (s *shownCommand) matches(c *policy.Command, home string) bool {
	return len(s.argv) == len(c.Argv) && slices.Equal(s.argv[1:], c.Argv[1:]) && s.matchesProgram(c.Argv[0], home) &&
		!slices.Contains(c.Argv, unknownMark)
}

// matchesProgram reports whether a program, by the file that is executed, is the one that was shown.
func (s *shownCommand) matchesProgram(program, home string) bool {
	if filepath.Base(s.argv[0]) != filepath.Base(program) {
		return s.linksTo(program)
	}
	switch named := !strings.Contains(program, "/"); {
	case s.file == "":
		return named || isFoundByName(program, home)
	case named:
		return isSystemProgram(s.file)
	default:
		return s.file == program || s.file == fileOf(program, "") || isSystemProgram(s.file) && isSystemProgram(program)
	}
}

// programDirs are the directories of the system's programs. On many systems one is a link to another.
var programDirs = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/run/current-system/sw/bin"}

// isSystemProgram reports whether a file is in one of programDirs.
func isSystemProgram(file string) bool { return slices.Contains(programDirs, filepath.Dir(file)) }

var (
	// packageDirs are the directories of packages.
	packageDirs = []string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/store/", "/snap/", "/run/current-system/"}
	// userProgramDirs are directories below a home that hold the user's programs or those of version managers.
	userProgramDirs = []string{"bin/", ".local/bin/", "go/bin/", ".cargo/bin/", ".bun/bin/", ".deno/bin/", ".pyenv/", ".rbenv/", ".nodenv/", ".goenv/", ".jenv/",
		".asdf/", ".local/share/mise/", ".volta/", ".nvm/", ".rustup/", ".sdkman/", "sdk/go"}
)

// isFoundByName reports whether a program's bare name usually finds a file: in directories of packages, in the user's own
// program directories or on our PATH. The PATH of the shell is unknown; a file of that name elsewhere needs approval.
func isFoundByName(file, home string) bool {
	below := func(dir string) bool { return strings.HasPrefix(file, dir) }
	for _, h := range []string{home, accountHome()} {
		if h != "" && slices.ContainsFunc(userProgramDirs, func(dir string) bool { return below(strings.TrimSuffix(h, "/") + "/" + dir) }) {
			return true
		}
	}
	return slices.ContainsFunc(packageDirs, below) ||
		filepath.IsAbs(file) && slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(file))
}

// linksTo reports whether the shown name is a link to the executed interpreter of the system, as sh is to dash.
func (s *shownCommand) linksTo(program string) bool {
	name := filepath.Base(s.argv[0])
	if s.file != "" && !isSystemProgram(s.file) || !isSystemProgram(program) || !slices.Contains(interpreters, name) || !slices.Contains(interpreters, filepath.Base(program)) {
		return false
	}
	real := realFile(program)
	return slices.ContainsFunc(programDirs, func(dir string) bool { return realFile(filepath.Join(dir, name)) == real })
}
