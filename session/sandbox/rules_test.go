package sandbox

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// testPlace returns a home directory with a project, a repository and longterm's directories.
func testPlace(t *testing.T) Place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := Place{Home: root + "/home", Cwd: root + "/home/work", OwnDirs: []string{root + "/home/.local/state/longterm"}}
	for _, d := range []string{
		"home/work/src", "home/work/.git/hooks", "home/work/.git/objects", "home/work/sub/.git/hooks", "home/work/.vscode", "home/.local/state/longterm/sessions",
		"home/.local/state/longterm/sessions/s/shell", "outside", "home/a1", "home/a2",
	} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"home/work/.git/config", "home/.bashrc", "home/work/.git/HEAD"} {
		if err := os.WriteFile(filepath.Join(root, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// profileFor returns a profile of a file's content.
func profileFor(t *testing.T, src string) *Profile {
	t.Helper()
	f, err := Decode("sandbox.toml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Profile("p")
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// FEATURES: R67
func TestResolve(t *testing.T) {
	at := testPlace(t)
	p, _ := Builtin("workspace")
	r, err := p.Resolve(at)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{at.Cwd + "/.git", at.Cwd + "/.vscode", at.Cwd + "/sub/.git"}
	if !slices.Equal(r.Protect, want) || !slices.Equal(r.Write, []string{at.Cwd}) || !slices.Contains(r.Hide, at.OwnDirs[0]) {
		t.Errorf("%+v, want %q protected", r, want)
	}
	c := profileFor(t, "[p]\nextends = \"workspace\"\ngit = \"commit\"\nread = [\"~/a*\"]\n")
	if r, err = c.Resolve(at); err != nil {
		t.Fatal(err)
	}
	want = []string{at.Cwd + "/.git/config", at.Cwd + "/.git/hooks", at.Cwd + "/.vscode", at.Cwd + "/sub/.git/hooks"}
	if !slices.Equal(r.Protect, want) || !slices.Equal(r.Read, []string{"/", at.Home + "/a1", at.Home + "/a2"}) {
		t.Errorf("%+v, want %q protected", r, want)
	}
}

// TestResolve_Refuses checks that a profile with forbidden paths is rejected with a hint.
//
// FEATURES: R67
func TestResolve_Refuses(t *testing.T) {
	at := testPlace(t)
	out := filepath.Dir(at.Home) + "/outside"
	if err := os.Symlink(out, at.Cwd+"/link"); err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		`write = ["$CWD/none"]`:                     "no such file",
		`write = ["$CWD/none*"]`:                    "nothing is there",
		`write = ["$CWD/link"]`:                     "a link that leads out",
		`write = ["~"]`:                             "the home directory, or above",
		`write = ["/"]`:                             "the home directory, or above",
		`write = ["~/.local/state/longterm"]`:       "which is hidden",
		`write = ["/etc"]`:                          "the system's own",
		`write = ["/dev/null"]`:                     "the system's own",
		`write = ["~/.bashrc"]`:                     "run by shells and tools",
		`write = ["` + out + `/../home/work/link"]`: "",
	} {
		f, err := Decode("sandbox.toml", []byte("[p]\nread = [\"/\"]\n"+src))
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", src, err)
			}
			continue
		}
		p, _ := f.Profile("p")
		_, err = p.Resolve(at)
		var wrong *PathError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || wrong.Hint() == "" {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
	if _, err := profileFor(t, "[p]\nwrite = [\"?$CWD/none\", \"?$CWD/none*\"]\n").Resolve(at); err != nil {
		t.Errorf("missing optional path: got %v", err)
	}
}

func TestWithin(t *testing.T) {
	at := testPlace(t)
	rules := func(src string) *Rules {
		r, err := profileFor(t, src).Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	workspace := rules("[p]\nextends = \"workspace\"\n")
	for src, want := range map[string]bool{
		"[p]\nextends = \"workspace\"\n":                      true,
		"[p]\nextends = \"readonly\"\n":                       true,
		"[p]\nextends = \"workspace\"\nhide = [\"~/a1\"]\n":   true,
		"[p]\nextends = \"workspace\"\nwrite = [\"~/a1\"]\n":  false,
		"[p]\nextends = \"workspace\"\nnetwork = \"on\"\n":    false,
		"[p]\nextends = \"workspace\"\nnetwork = [\"a.b\"]\n": false,
		"[p]\nextends = \"workspace\"\nunix_sockets = true\n": false,
		"[p]\nextends = \"workspace\"\ngit = \"commit\"\n":    false,
		"[p]\nread = [\"/usr\"]\nwrite = [\"$CWD/sub\"]\n":    true,
	} {
		if got := rules(src).IsWithin(workspace); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

// FEATURES: R66
func TestEnviron(t *testing.T) {
	env := []string{"PATH=/bin", "LC_ALL=C", "SECRET=x", "TOKEN_A=1", "TERM=t"}
	for src, want := range map[string]string{
		"[p]\n":                            "PATH=/bin LC_ALL=C SECRET=x TOKEN_A=1 TERM=t",
		"[p]\nenvironment = \"minimal\"\n": "PATH=/bin LC_ALL=C TERM=t",
		"[p]\nenvironment = \"listed\"\nenv = [\"TOKEN_*\", \"PATH\"]\n": "PATH=/bin TOKEN_A=1 TERM=t",
	} {
		if got := strings.Join(profileFor(t, src).Environ(env), " "); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}

// FEATURES: R67
func TestHosts(t *testing.T) {
	for _, c := range []struct {
		host, name string
		port       int
		want       bool
	}{
		{"example.org", "example.org", 443, true}, {"example.org", "www.example.org", 443, false}, {"example.org:443", "example.org", 80, false},
		{"*.example.org", "www.example.org", 1, true}, {"*.example.org", "example.org", 1, false}, {"*.example.org", "evilexample.org", 1, false},
		{"Example.ORG.", "example.org", 1, true}, {"*", "any.thing", 1, true}, {"10.0.0.1", "10.0.0.1", 1, false},
	} {
		h, err := ParseHost(c.host)
		if err != nil || h.MatchesName(c.name, c.port) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, a := range []string{"127.0.0.1", "10.1.1.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1", "0.0.0.0", "100.64.1.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1"} {
		if !IsInternal(netip.MustParseAddr(a)) {
			t.Errorf("IsInternal(%s) = false, want true", a)
		}
	}
	if IsInternal(netip.MustParseAddr("9.9.9.9")) || IsInternal(netip.MustParseAddr("2620:fe::fe")) {
		t.Error("got external addresses as internal")
	}
	if h, _ := ParseHost("10.0.0.0/8:80"); h.Addr.IsValid() && !h.MatchesAddr(netip.MustParseAddr("::ffff:10.1.2.3"), 80) {
		t.Errorf("%+v", h)
	}
}

// TestResolve_HardLinks checks that a protected file with a second name is reported, since that name may be in a
// writable directory.
//
// FEATURES: R67
func TestResolve_HardLinks(t *testing.T) {
	at := testPlace(t)
	for from, to := range map[string]string{at.Home + "/.bashrc": at.Cwd + "/src/rc", at.Cwd + "/.git/config": at.Home + "/elsewhere"} {
		if err := os.Link(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"workspace": 2, "readonly": 0} {
		p, _ := Builtin(name)
		r, err := p.Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		_, not := r.DescribeEnforced(Userns, Features{Landlock: 6})
		named := 0
		for _, line := range not {
			if strings.Contains(line, "another name") {
				named++
			}
		}
		if len(r.Linked) != want || named != want {
			t.Errorf("%s: %v, %q", name, r.Linked, not)
		}
	}
}

// TestResolve_DeepRepositories checks that repositories are found at any depth; the report lists directories with too
// many files to search.
//
// FEATURES: R67
func TestResolve_DeepRepositories(t *testing.T) {
	tier.Full(t)
	at := testPlace(t)
	deep := at.Cwd + "/a/b/c/d/e/f/.git"
	if err := os.MkdirAll(deep+"/hooks", 0o700); err != nil {
		t.Fatal(err)
	}
	p, _ := Builtin("workspace")
	r, err := p.Resolve(at)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.Protect, deep) || len(r.Unsearched) > 0 {
		t.Errorf("%v, unsearched %v", r.Protect, r.Unsearched)
	}
	for i := range maxSearchNames {
		if err := os.Mkdir(at.Cwd+"/a/"+strconv.Itoa(i), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if r, err = p.Resolve(at); err != nil {
		t.Fatal(err)
	}
	_, not := r.DescribeEnforced(Userns, Features{Landlock: 6})
	if !slices.Contains(r.Protect, at.Cwd+"/.git") || !slices.ContainsFunc(not, func(line string) bool { return strings.Contains(line, "far below "+at.Cwd) }) {
		t.Errorf("%v, %q", r.Protect, not)
	}
}

// FEATURES: R108
func TestResolve_Programs(t *testing.T) {
	at := testPlace(t)
	if err := os.WriteFile(at.Cwd+"/src/tool", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tool", at.Cwd+"/src/link"); err != nil {
		t.Fatal(err)
	}
	p := profileFor(t, "[p]\nextends = \"workspace\"\nprograms = [\"$CWD/src/link\", \"/no/such\"]\n")
	r, err := p.Resolve(at)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Programs, " "); got != "$CWD/src/link "+"/no/such "+at.Cwd+"/src/tool" {
		t.Error(got)
	}
	if _, err := Decode("f", []byte("[p]\nprograms = [\"make\"]\n")); err == nil || !strings.Contains(err.Error(), "not absolute") {
		t.Error(err)
	}
}
