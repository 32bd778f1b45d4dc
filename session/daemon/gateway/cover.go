package gateway

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// cover is what a person allowed when he allowed an execution: all that its words say they run, when the process that
// executes them, or one that it started, comes to it.
type cover struct {
	approval string
	process  string
	allowed  []shownCommand
	dir      string // that the program was installed into, where it was allowed for the session; empty: none of its own
}

// maxCovers bounds what is remembered of a session.
const maxCovers = 64

// cover notes what an approval of an execution covers.
func (g *Gateway) cover(a *Ask, answer *Answer) {
	c, ok := coverOf(a, answer.Approval, answer.Scope, &answer.Judgement)
	if !ok {
		return
	}
	g.recallCovers(a.Session)
	g.mu.Lock()
	defer g.mu.Unlock()
	list := append(g.covers[a.Session], c)
	g.covers[a.Session] = list[max(0, len(list)-maxCovers):]
}

// coverOf is what an approval of an execution covers, if it covers anything.
func coverOf(a *Ask, approval, scope string, j *policy.Judgement) (c cover, ok bool) {
	if a.Kind != Execution || approval == "" || len(a.Descent) == 0 {
		return c, false
	}
	c = cover{approval: approval, process: a.Descent[0], allowed: shownTo(a, j)}
	if scope == answerSession {
		c.dir = installation(a)
	}
	return c, len(c.allowed) > 0
}

// recallCovers takes from the records what executions of a session were allowed before this daemon came, once. Processes
// are named for good, so that one that has ended since covers nothing.
func (g *Gateway) recallCovers(session string) {
	g.mu.Lock()
	_, known := g.covers[session]
	g.mu.Unlock()
	if known {
		return
	}
	list := []cover{}
	rows, err := g.c.Store.Approvals(context.Background(), store.ApprovalQuery{Session: session, Limit: maxCovers})
	if err != nil { // they are asked about again
		g.c.Log.Warn("recall what executions were allowed", "session", session, "err", err)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		e, err := entryOf(&rows[i])
		if err != nil || e.cut || rows[i].State != store.ApprovalAnswered || e.view.Answer == answerReject || lifted(&e.view) || len(e.ask.Descent) == 0 {
			continue
		}
		j := judgementOf(&e.view.Judgement)
		if c, ok := coverOf(&e.ask, e.view.ID, e.view.Answer, &j); ok {
			list = append(list, c)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.covers[session]; !known {
		g.covers[session] = list
	}
}

// coveredBy is the approval of what started an execution, where it was about these commands.
func (g *Gateway) coveredBy(a *Ask, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return ""
	}
	g.recallCovers(a.Session)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.covers[a.Session] {
		if slices.Contains(a.Descent, c.process) && !slices.ContainsFunc(j.Commands, unlistedIn) && (allowsAll(c.allowed, j.Commands, a.Home) || c.helps(j.Commands)) {
			return c.approval
		}
	}
	return ""
}

// ofPrograms are the directories within an installation in which its programs are.
var ofPrograms = []string{"bin", "sbin", "libexec", "shims"}

// installation is the directory that a program of a place of its own was installed into with what it runs to do its work;
// empty: it is one of the system's, or stands where other things are as well.
func installation(a *Ask) string {
	dir := filepath.Dir(a.Path)
	if !filepath.IsAbs(a.Path) || !slices.Contains(ofPrograms, filepath.Base(dir)) {
		return ""
	}
	dir = filepath.Dir(dir)
	if strings.Count(dir, "/") < 2 || slices.Contains(sharedPlaces, dir) || within(a.Home, dir) || within(a.Cwd, dir) {
		return ""
	}
	return dir
}

// sharedPlaces hold programs of many.
var sharedPlaces = []string{"/usr/local", "/usr/lib", "/opt/homebrew", "/opt/local"}

// within says that a path is a directory or below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Cover are the commands that a person was shown who allowed a line, a command or an execution in a directory.
type Cover []shownCommand

// CoverOf is what an answer about what was judged would cover.
func CoverOf(cwd string, j *policy.Judgement) Cover { return shownTo(&Ask{Cwd: cwd}, j) }

// Covers says that nobody would be asked about commands, of an execution, who had allowed it.
func (c Cover) Covers(commands []policy.Command, home string) bool {
	return len(commands) > 0 && len(commands) < policy.MaxCommands && allowsAll(c, commands, home)
}

// helps says that all that is asked about is programs of the installation of a program that was allowed for the session, which
// that program executes, and asked about for their place alone.
func (c *cover) helps(commands []policy.Command) bool {
	return c.dir != "" && !slices.ContainsFunc(commands, func(o policy.Command) bool {
		return o.Verdict == policy.Ask && (len(o.Argv) == 0 || !filepath.IsAbs(o.Argv[0]) || !within(filepath.Clean(o.Argv[0]), c.dir) || !slices.Contains(ofPresets[1:], o.Rule))
	})
}

// allowsAll says that all that is asked about was allowed.
func allowsAll(allowed []shownCommand, commands []policy.Command, home string) bool {
	for _, c := range commands {
		c.Argv = withoutManager(withoutManager(c.Argv, home), account())
		if c.Verdict == policy.Ask && (len(c.Argv) == 0 || !slices.ContainsFunc(allowed, func(o shownCommand) bool { return o.is(&c, home) })) {
			return false
		}
	}
	return true
}

// withoutManager are words without those by which a manager of versions, in the home directory, finds the program for them:
// its shim was allowed, and is of the same directory.
func withoutManager(argv []string, home string) []string {
	for _, name := range []string{"pyenv", "rbenv", "nodenv", "goenv", "plenv"} {
		steps := filepath.Join(home, "."+name, "libexec", name)
		switch {
		case home == "" || len(argv) < 3:
		case argv[0] == steps && argv[1] == "exec":
			return argv[2:]
		case argv[0] == steps+"-exec":
			return argv[1:]
		}
	}
	return argv
}
