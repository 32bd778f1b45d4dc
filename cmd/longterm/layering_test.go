package main

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/longterm-dev/longterm"

type layer struct {
	pkg string
	may []string
	why string
}

// layers lists which of our packages a package, and all below it without a separate row, may import, and why.
var layers = []layer{
	{"/vterm", []string{"/vterm"}, "the emulator depends on nothing of ours"},
	{"/store", []string{"/store"}, "the stores depend on nothing of ours"},
	{"/store/atomicfile", nil, "a leaf: any package that has a file to replace may use it"},
	{"/render", []string{"/render", "/vterm", "/store/atomicfile", "/session/suggestname"}, "drawing knows frames, not sessions; names are near each other anywhere; the prompt's history is a file like any other"},
	{"/session", []string{"/session", "/render", "/store", "/vterm"}, "commands stand on sessions, not the reverse"},
	{"/session/identity", nil, "a leaf: who asks is known to all"},
	{"/session/apitoken", []string{"/store/atomicfile"}, "who may come in is known without routes and sessions"},
	{"/session/audit", []string{"/session/identity"}, "what is kept of an act knows not who decides"},
	{"/session/web/wire", []string{"/render", "/vterm"}, "messages and frames know no session and no socket"},
	{"/session/web", []string{"/session/apitoken", "/session/identity", "/session/api", "/session/output/diagnostics", "/store/atomicfile"}, "the page and its door know no session and no route"},
	{"/session/relay", []string{"/session/relay", "/session/web", "/session/apitoken", "/session/identity", "/session/api", "/session/output/diagnostics", "/store/atomicfile"}, "what is passed on, sealed, is known without sessions"},
	{"/session/relay/sealed", nil, "a leaf: messages and keys"},
	{"/session/redact", []string{"/vterm"}, "what is secret is looked for in bytes and cells, without a session"},
	{"/session/api", []string{"/session/identity", "/session/output/diagnostics"}, "requests and answers are a leaf: clients import nothing else with them but what commands' outputs say"},
	{"/session/listing", []string{"/session/api", "/session/identity", "/session/output/diagnostics"}, "sessions are told of from what the API says of them"},
	{"/session/output/diagnostics", []string{}, "it reads text, and knows neither sessions nor terminals"},
	{"/session/output", []string{"/session/output", "/session/attach", "/session/suggestname", "/render", "/vterm"}, "output is read without a session"},
	{"/session/notify", []string{"/session/notify", "/store/atomicfile"}, "a leaf: it is told what there is to tell"},
	{"/session/notify/webhook", []string{"/store/atomicfile"}, "a leaf: what is posted waits in files, and says what it says"},
	{"/session/suggestname", nil, "a leaf"},
	{"/session/pattern", nil, "a leaf"},
	{"/session/shellquote", nil, "a leaf"},
	{"/session/fairsched", nil, "a leaf"},
	{"/session/agentstate", nil, "a leaf: hooks, screens and what the kernel said go in, without a session"},
	{"/session/policy", []string{"/session/policy"}, "verdicts are pure: a line, its context and rules go in"},
	{"/session/policy/rulebook", []string{"/session/policy", "/session/suggestname", "/session/config/tomldoc", "/store/atomicfile"}, "it reads files of rules and knows no session"},
	{"/session/draft", []string{"/store/atomicfile"}, "a draft is read and committed without a session; the sandbox mounts it"},
	{"/session/sandbox", []string{"/session/sandbox", "/session/confine", "/session/config/tomldoc", "/session/keeper/wire", "/session/sys"}, "profiles know no session: what they mean is put on a process by confine"},
	{"/session/confine", []string{"/session/keeper/wire", "/session/sys"}, "what a process puts on itself is known without sessions; every start of a program waits for it"},
	{"/session/ring", []string{"/session/sys/rawio"}, "the ring is shared with the keeper, which must stay small"},
	{"/session/keeper/wire", []string{"/session/sys", "/session/sys/rawio"}, "the protocol is shared with the keeper, which must stay small"},
	{"/session/sys/notifyqueue", []string{"/session/sys"}, "what keeper and daemon share of what waits is no more than memory"},
	{"/session/sys/spinwait", []string{"/session/sys"}, "the keeper waits by it"},
	{"/session/sys/rawio", nil, "the keeper reads and writes by it"},
	{"/session/sys", nil, "what the system is asked is shared with the keeper, which must stay small"},
	{"/session/paths", nil, "a leaf"},
	{"/session/config/tomldoc", nil, "a leaf: it knows TOML and no key"},
	{"/session/project", []string{"/session/config/tomldoc", "/session/suggestname"}, "it reads a project's file and starts nothing"},
	{"/session/expand", nil, "templates are read without a session: judging and running is others'"},
	{"/session/integrations", []string{"/session/suggestname", "/session/config/tomldoc", "/store/atomicfile"}, "other programs' files are changed without a session"},
	{"/session/integrations/jsontext", nil, "a leaf: it knows JSON and no key"},

	// The floors inside the emulator: bytes, colours and pictures know no cells; cells know no sequences.
	{"/vterm/internal/parse", nil, "a parser knows bytes, not what sequences do"},
	{"/vterm/internal/width", nil, "a leaf"},
	{"/vterm/internal/bytescan", nil, "a leaf"},
	{"/vterm/internal/arena", nil, "a leaf"},
	{"/vterm/internal/color", nil, "colours are numbers and their names"},
	{"/vterm/internal/graphics", nil, "pictures are bytes and pixels; where they stand is the terminal's"},
	{"/vterm/internal/grid", []string{"/vterm/internal/arena", "/vterm/internal/color", "/vterm/internal/bytescan", "/vterm/internal/width"}, "cells and history know no sequence, no parser and no terminal"},
	{"/vterm/plaintext", []string{"/vterm/internal/bytescan", "/vterm/internal/width"}, "output as lines is read without a screen"},

	// The floors inside the viewer.
	{"/render/view/layout", nil, "trees of panes are areas and ids"},
	{"/render/view/model", []string{"/render/view/layout"}, "what is shown is known without frames, keys and a screen"},
	{"/render/view/fuzzy", nil, "a leaf"},
	{"/render/view/theme", nil, "colours know not what they are for"},
	{"/render/view/events", []string{"/vterm"}, "a leaf: keys and mouse of two terminals"},

	// The floors inside a session and its daemon.
	{"/session/internal/killladder", nil, "who is signalled is its callers'"},
	{"/session/internal/lineexec", []string{"/session/shell", "/vterm"}, "when a line is typed and has ended is decided without a session"},
	{"/session/internal/admit", []string{"/session/internal", "/session/pattern", "/session/respond", "/session/ring", "/session/shell", "/session/sys/rawio", "/store/journal", "/vterm"}, "whether input is typed is decided without a session"},
	{"/session/internal/echodetect", []string{"/session/shell", "/vterm"}, "what a terminal shows of what is typed is told without a session"},
	{"/session/inputdetect", []string{"/session/sys"}, "what a program waits for is asked of the kernel alone"},
	{"/session/keeper/launch", []string{"/session/sys"}, "how a keeper is started is all that clients link of it"},
	{"/session/daemon/events", []string{"/session/identity", "/session/api", "/session/output"}, "what goes out to many knows no session"},
	{"/session/daemon/executions", []string{"/session/daemon/authorize", "/session/identity", "/session/api", "/session/listing", "/session/sys", "/session/keeper/wire", "/session/policy", "/session/output", "/vterm/plaintext", "/vterm/internal/bytescan", "/vterm/internal/width", "/session/suggestname", "/session/config/tomldoc", "/session/internal/retryqueue", "/store"}, "executions are judged without the set of sessions"},
	{"/session/daemon/metrics", nil, "how figures are written is known without what is counted"},
	{"/session/daemon/writequeue", nil, "a queue of writes knows not what is written"},
}

// textLeaves may be imported by each package below session, since they only handle strings. pattern replaces package regexp and
// compiles expressions at their first use.
var textLeaves = []string{"/session/pattern", "/session/shellquote"}

// house is the imports of each of our packages, and what it links.
type house struct{ imports, deps map[string][]string }

var readHouse = sync.OnceValues(func() (h house, err error) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}|{{join .Imports " "}}|{{join .Deps " "}}`, module+"/...").Output()
	h = house{map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		h.imports[f[0]], h.deps[f[0]] = strings.Fields(f[1]), strings.Fields(f[2])
	}
	return h, err
})

func theHouse(t *testing.T) house {
	t.Helper()
	h, err := readHouse()
	if err != nil || len(h.deps) == 0 {
		t.Fatalf("go list: %d packages, %v", len(h.deps), err)
	}
	return h
}

// under returns a package and those below it; none means that a row is outdated.
func (h house) under(t *testing.T, pkg string) (all []string) {
	t.Helper()
	for p := range h.deps {
		if p == module+pkg || strings.HasPrefix(p, module+pkg+"/") {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Errorf("package %s does not exist any more", pkg)
	}
	slices.Sort(all)
	return all
}

// within reports whether a package of ours is one of those that are listed, or below one.
func within(dep string, list []string) bool {
	return slices.ContainsFunc(list, func(m string) bool { return dep == module+m || strings.HasPrefix(dep, module+m+"/") })
}

func TestLayering(t *testing.T) {
	h := theHouse(t)
	for _, l := range layers {
		for _, pkg := range h.under(t, l.pkg) {
			if slices.ContainsFunc(layers, func(o layer) bool { return len(o.pkg) > len(l.pkg) && within(pkg, []string{o.pkg}) }) {
				continue
			}
			for _, dep := range h.deps[pkg] {
				if within(dep, textLeaves) && strings.HasPrefix(l.pkg, "/session/") {
					continue
				}
				if strings.HasPrefix(dep, module) && !within(dep, append(l.may, l.pkg)) {
					t.Errorf("%s imports %s: %s", pkg, dep, l.why)
				}
			}
		}
	}
}

// keeperMay lists all packages of the keeper's process besides the standard library (K1): code that may have bugs stays
// out of the process that must not end.
var keeperMay = []string{
	module + "/session/internal/memrelease", module + "/session/internal/idlepoll", module + "/session/keeper", module + "/session/keeper/launch", module + "/session/keeper/wire", module + "/session/ring", module + "/session/sys",
	module + "/session/sys/caller", module + "/session/sys/dirwatch", module + "/session/sys/notifyqueue", module + "/session/sys/spinwait", module + "/session/sys/rawio", module + "/session/sys/unixsock",
	"github.com/creack/pty", "golang.org/x/sys/",
}

func TestKeeperStaysSmall(t *testing.T) {
	deps := theHouse(t).deps[module+"/session/keeper"]
	for _, dep := range deps {
		first, _, _ := strings.Cut(dep, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(dep, "vendor/") {
			continue // standard library
		}
		if !slices.ContainsFunc(keeperMay, func(m string) bool { return dep == m || strings.HasSuffix(m, "/") && strings.HasPrefix(dep, m) }) {
			t.Errorf("the keeper imports %s", dep)
		}
	}
	// The last two are initialised late: a keeper starts once all its imports are initialised
	// (cmd/internal/keepermain).
	for _, heavy := range []string{"net/http", "database/sql", "net", "runtime/debug"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("the keeper imports %s", heavy)
		}
	}
}

// mayNot lists what a package, and all below it, must not link, and why.
var mayNot = []struct{ pkg, dep, why string }{
	{"/session/client", module + "/session/keeper", "a client starts a keeper (keeper/launch) and carries nothing of what one is made of"},
	{"/session/client", "github.com/creack/pty", "a client opens no terminal"},
	{"/session/client", module + "/session/ring", "what a keeper and a daemon share is not a client's"},
	{"/session/client", module + "/session/daemon", "a client asks the daemon by its API"},
	{"/session/client", "database/sql", "a client reads no records"},
	{"/session/keeper/launch", module + "/session/keeper/wire", "to start a keeper is not to speak with it"},
	{"/session/agentcontext", module + "/session/daemon", "what was run is asked of the daemon"},
	{"/session/mcp", module + "/session/daemon", "the agents' door is a client of the daemon: it has no other way to sessions"},
	{"/session/mcp", module + "/store/journal", "what was printed is asked of the daemon"},
	{"/session/attach", module + "/session/client", "messages and filters know no connection"},
	{"/session/daemon/spawn", module + "/session/daemon/registry", "how a process is started is told what it needs of the set of sessions"},
	{"/session/daemon/registry", module + "/session/daemon/jobs", "sessions are there without jobs"},
	{"/session/daemon/registry", module + "/session/daemon/httpapi", "sessions do not know who asks for them"},
	{"/session/daemon/authorize", module + "/session/daemon/registry", "whether something may be done is told what it needs of a session"},
	{"/session/daemon/authorize", module + "/session/daemon/jobs", "whether something may be done is told what it needs of a job"},
	{"/session/daemon/jobs", module + "/session/daemon/httpapi", "jobs do not know who asks for them"},
	{"/render/view/model", "github.com/gdamore/tcell/v2", "what is shown is known without a terminal"},
	{"/render/view/page", "github.com/gdamore/tcell/v2", "what copy mode shows is known without a terminal"},
	{"/render/view/keymap", "github.com/gdamore/tcell/v2", "the configuration's keys are checked without a terminal"},
	{"/render/view/statusbar", module + "/render/view/overlays", "a bar is told what it says"},
	{"/render/view/overlays", module + "/render/view/panes", "what lies over panes knows none"},
	{"/render/view/copymode", module + "/render/view/panes", "copy mode is handed what a pane shows"},
	{"/render/view/prompt", module + "/render/view", "the prompt is a machine; what feeds the viewer joins the two"},
	{"/render/view/player", module + "/render/view", "a recording is played without sessions"},
	{"/cmd/internal", module + "/session/keeper", "only the process that is a keeper links one"},
}

// theKeeper is the package that is a keeper's process.
const theKeeper = "/cmd/internal/keepermain"

func TestMustNotImport(t *testing.T) {
	h := theHouse(t)
	for _, no := range mayNot {
		for _, pkg := range h.under(t, no.pkg) {
			if slices.Contains(h.deps[pkg], no.dep) && pkg != module+theKeeper {
				t.Errorf("%s links %s: %s", pkg, no.dep, no.why)
			}
		}
	}
}

// TestTopLevel checks that the top level holds five directories, docs and CI, and nothing else.
func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	allowed := []string{"cmd", "session", "vterm", "render", "store", "docs", ".ci"}
	for _, f := range strings.Fields(string(out)) {
		if dir, _, ok := strings.Cut(f, "/"); ok && !slices.Contains(allowed, dir) {
			t.Errorf("%s: no folder %s at the top level", f, dir)
		}
	}
}
