package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/longterm-dev/longterm"

// layers says what a package (and all below it) may import of ours, and why.
var layers = []struct {
	pkg string
	may []string
	why string
}{
	{"/vterm", []string{"/vterm"}, "the emulator depends on nothing of ours"},
	{"/store", []string{"/store"}, "the stores depend on nothing of ours"},
	{"/store/atomicfile", nil, "a leaf: whoever has a file to replace may use it"},
	{"/render", []string{"/render", "/vterm", "/store/atomicfile"}, "drawing knows frames, not sessions; the prompt's history is a file like any other"},
	{"/session", []string{"/session", "/render", "/store", "/vterm"}, "commands stand on sessions, not the reverse"},
	{"/session/api", []string{"/session/output/diagnostics", "/session/output/internal"}, "requests and answers are a leaf: clients import nothing else with them but what commands' outputs say"},
	{"/session/output/diagnostics", []string{"/session/output/internal"}, "it reads text, and knows neither sessions nor terminals"},
	{"/session/output", []string{"/session/output", "/session/attach", "/session/spelling", "/render", "/vterm"}, "output is read without a session"},
	{"/session/notify", nil, "a leaf: it is told what there is to tell"},
	{"/session/spelling", nil, "a leaf"},
	{"/session/ring", nil, "the ring is shared with the keeper, which must stay small"},
	{"/session/keeper/wire", []string{"/session/sys"}, "the protocol is shared with the keeper, which must stay small"},
	{"/session/sys", nil, "what the system is asked is shared with the keeper, which must stay small"},
	{"/session/paths", nil, "a leaf"},
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

func TestLayering(t *testing.T) {
	for _, l := range layers {
		for _, pkg := range goList(t, module+l.pkg+"/...") {
			if !strings.HasPrefix(pkg+"/", module+l.pkg+"/") {
				continue
			}
			for _, dep := range goList(t, "-deps", pkg) {
				ours, ok := strings.CutPrefix(dep, module)
				if !ok || dep == pkg {
					continue
				}
				if !slices.ContainsFunc(l.may, func(m string) bool { return ours == m || strings.HasPrefix(ours, m+"/") }) {
					t.Errorf("%s imports %s: %s", pkg, dep, l.why)
				}
			}
		}
	}
}

// keeperMay is all that the keeper's process is made of besides the standard library
// (K1): what can have bugs stays out of the process that must not die.
var keeperMay = []string{
	module + "/session/keeper", module + "/session/keeper/launch", module + "/session/keeper/wire", module + "/session/ring", module + "/session/sys",
	"github.com/creack/pty", "golang.org/x/sys/",
}

func TestKeeperStaysSmall(t *testing.T) {
	for _, dep := range goList(t, "-deps", module+"/session/keeper") {
		first, _, _ := strings.Cut(dep, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(dep, "vendor/") {
			continue // standard library
		}
		if !slices.ContainsFunc(keeperMay, func(m string) bool { return dep == m || strings.HasSuffix(m, "/") && strings.HasPrefix(dep, m) }) {
			t.Errorf("the keeper imports %s", dep)
		}
	}
	for _, heavy := range []string{"net/http", "database/sql"} {
		if slices.Contains(goList(t, "-deps", module+"/session/keeper"), heavy) {
			t.Errorf("the keeper imports %s", heavy)
		}
	}
}

// mayNot says what a package (and all below it, with "/...") must not link, and why.
var mayNot = []struct{ pkg, dep, why string }{
	{"/session/client", module + "/session/keeper", "a client starts a keeper (keeper/launch) and carries nothing of what one is made of"},
	{"/session/client", "github.com/creack/pty", "a client opens no terminal"},
	{"/session/client", module + "/session/ring", "what a keeper and a daemon share is not a client's"},
	{"/session/client", module + "/session/daemon", "a client asks the daemon by its API"},
	{"/session/client", "database/sql", "a client reads no records"},
	{"/session/keeper/launch", module + "/session/keeper/wire", "to start a keeper is not to speak with it"},
	{"/session/attach", module + "/session/client", "messages and filters know no connection"},
	{"/cmd/longterm/internal/...", module + "/session/keeper", "only the verb that is a keeper links one"},
}

func TestMustNotImport(t *testing.T) {
	for _, no := range mayNot {
		for _, pkg := range goList(t, module+no.pkg) {
			if slices.Contains(goList(t, "-deps", pkg), no.dep) {
				t.Errorf("%s links %s: %s", pkg, no.dep, no.why)
			}
		}
	}
}

// The top level holds five folders, docs and CI; nothing else grows there.
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
