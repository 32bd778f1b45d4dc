package authorize

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// transitiveAllow is what a user's approval of an execution covers: the commands in its words, if its process or a
// descendant executes them.
type transitiveAllow struct {
	approval string // ID of the approval
	process  string // pid and start time of the approved process
	allowed  []shownCommand
	dir      string // installation directory of the program, if it was allowed for the session; empty if none
}

// maxCovers bounds the approvals remembered per session.
const maxCovers = 64

// cover records what an approval of an execution covers.
func (g *Gateway) cover(a *Request, answer *Answer) {
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

// coverOf returns what the approval of an execution covers; ok is false if it covers nothing.
func coverOf(a *Request, approval, scope string, j *policy.Judgement) (c transitiveAllow, ok bool) {
	if a.Kind != Execution || approval == "" || len(a.Descent) == 0 {
		return c, false
	}
	c = transitiveAllow{approval: approval, process: a.Descent[0], allowed: shownTo(a, j)}
	if scope == answerSession {
		c.dir = installation(a)
	}
	return c, len(c.allowed) > 0
}

// recallCovers loads, once per session, the approvals of executions from before this daemon's start. Process names are
// unique, so an approval of an ended process covers nothing.
func (g *Gateway) recallCovers(session string) {
	g.mu.Lock()
	_, known := g.covers[session]
	g.mu.Unlock()
	if known {
		return
	}
	list := []transitiveAllow{}
	rows, err := g.c.Store.Approvals(context.Background(), store.ApprovalQuery{Session: session, Limit: maxCovers})
	if err != nil { // approval is requested again
		g.c.Log.Warn("recall what executions were allowed", "session", session, "err", err)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		e, err := entryOf(&rows[i])
		if err != nil || e.cut || rows[i].State != store.ApprovalAnswered || e.view.Answer == answerReject || isAllowedByRules(&e.view) || len(e.request.Descent) == 0 {
			continue
		}
		j := judgementOf(&e.view.Judgement)
		if c, ok := coverOf(&e.request, e.view.ID, e.view.Answer, &j); ok {
			list = append(list, c)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.covers[session]; !known {
		g.covers[session] = list
	}
}

// coveredBy returns the approval of an ancestor of an execution that covers these commands, or "".
func (g *Gateway) coveredBy(a *Request, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return ""
	}
	g.recallCovers(a.Session)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.covers[a.Session] {
		if slices.Contains(a.Descent, c.process) && !slices.ContainsFunc(j.Commands, isUnlistedCommand) && (allowsAll(c.allowed, j.Commands, a.Home) || c.coversHelpers(j.Commands)) {
			return c.approval
		}
	}
	return ""
}

// programSubdirs are the directories of an installation that hold its programs.
var programSubdirs = []string{"bin", "sbin", "libexec", "shims"}

// installation returns the directory that holds a program and its helper programs. It returns "" for programs of the
// system and for directories that hold other things too.
func installation(a *Request) string {
	dir := filepath.Dir(a.Path)
	if !filepath.IsAbs(a.Path) || !slices.Contains(programSubdirs, filepath.Base(dir)) {
		return ""
	}
	dir = filepath.Dir(dir)
	if strings.Count(dir, "/") < 2 || slices.Contains(sharedDirs, dir) || within(a.Home, dir) || within(a.Cwd, dir) {
		return ""
	}
	return dir
}

// sharedDirs hold programs of several packages, so none is an installation directory.
var sharedDirs = []string{"/usr/local", "/usr/lib", "/opt/homebrew", "/opt/local"}

// within reports whether path is dir or below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// ApprovedCommands lists the commands that the user saw when approving a line, a command or an execution.
type ApprovedCommands []shownCommand

// TransitiveAllowOf returns what an answer about a judgement would cover.
func TransitiveAllowOf(cwd string, j *policy.Judgement) ApprovedCommands {
	return shownTo(&Request{Cwd: cwd}, j)
}

// Covers reports whether the approved commands cover the commands of an execution.
func (c ApprovedCommands) Covers(commands []policy.Command, home string) bool {
	return len(commands) > 0 && len(commands) < policy.MaxCommands && allowsAll(c, commands, home)
}

// coversHelpers reports whether all commands that need approval are programs of an installation that was allowed for
// the session, and need it only because of their location.
func (c *transitiveAllow) coversHelpers(commands []policy.Command) bool {
	return c.dir != "" && !slices.ContainsFunc(commands, func(o policy.Command) bool {
		return o.Verdict == policy.Ask && (len(o.Argv) == 0 || !filepath.IsAbs(o.Argv[0]) || !within(filepath.Clean(o.Argv[0]), c.dir) || !slices.Contains(presetRules[1:], o.Rule))
	})
}

// allowsAll reports whether every command that needs approval was allowed.
func allowsAll(allowed []shownCommand, commands []policy.Command, home string) bool {
	for _, c := range commands {
		c.Argv = withoutManager(withoutManager(c.Argv, home), accountHome())
		if c.Verdict == policy.Ask && (len(c.Argv) == 0 || !slices.ContainsFunc(allowed, func(o shownCommand) bool { return o.matches(&c, home) })) {
			return false
		}
	}
	return true
}

// withoutManager removes the words by which a version manager in the home directory finds the real program. Its shim
// was allowed and is in the same directory.
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
