package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDecode_Problems checks that errors of a file have a position, and such a file has no profiles.
//
// FEATURES: R67
func TestDecode_Problems(t *testing.T) {
	for src, want := range map[string]string{
		"[a]\nread = [\"x\"]\n":                      `1:1: [a]: read: "x" is not absolute`,
		"[a]\nread = [\"/a/../b\"]\n":                `has .. in it`,
		"\n[a]\nreed = [\"/\"]\n":                    `3:1: unknown key a.reed; a profile has description, extends`,
		"[a]\nread = \"/\"\n":                        `2:8: `,
		"[a]\nlevel = \"chroot\"\n":                  `level "chroot"; there are userns, landlock, bwrap, docker, podman`,
		"[a]\nnetwork = \"some\"\n":                  `network "some"; write "off", "on"`,
		"[a]\nnetwork = [\"http://x\"]\n":            `host "http://x"`,
		"[a]\nnetwork = [\"x:0\"]\n":                 `a port is a number`,
		"[a]\nnetwork = 1\n":                         `write "off", "on", or a list of hosts`,
		"[a]\nextends = \"b\"\n[b]\nextends = \"a\"": `it extends itself: a → b → a`,
		"[a]\nextends = \"nobody\"\n":                `profile nobody to extend not found`,
		"[a]\nlevel = \"docker\"\n":                  `needs an image`,
		"[a]\ndraft_size = -1\n":                     `limits are positive`,
		"[a]\nmemory = -1\n":                         `limits are positive`,
		"[a]\ncpus = nan\n":                          `limits are positive`,
		"[\"a b\"]\n":                                `a profile name has`,
		"[--]\n":                                     `does not start with -`,
		"[a]\non_difference = \"shout\"\n":           `there are deny, ask`,
		"[a\n":                                       `1:`,
		"a = 1\n":                                    `1:`,
		"\xff":                                       `sandbox.toml`,
	} {
		f, err := Decode("sandbox.toml", []byte(src))
		if err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
}

// FEATURES: R67
func TestDecode_Profiles(t *testing.T) {
	f, err := Decode("sandbox.toml", []byte(`
[web]
extends = "workspace"
write = ["~/cache"]
network = ["example.org", "*.example.net:443", "10.0.0.0/8"]
on_difference = "ask"
private_tmp = false
[workspace]
extends = "workspace"
hide = ["~/.ssh"]
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Profile("web")
	if err != nil || strings.Join(p.Write, " ") != "$CWD ~/cache" || p.Network != NetworkHosts || len(p.Hosts) != 3 || p.PrivateTmp ||
		strings.Join(p.Hide, " ") != "~/.ssh" || p.OnDifference != "ask" || p.Git != "read" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := f.Profile("readonly"); err != nil || len(p.Write) != 0 || !p.PrivateTmp {
		t.Errorf("built-in profile next to a file: got %+v, %v", p, err)
	}
	var unknown *NameError
	if _, err := f.Profile("wokspace"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "network, readonly, web, workspace") || unknown.Hint() == "" {
		t.Errorf("unknown profile: got %v", err)
	}
	for _, p := range builtins {
		p.setDefaults()
		if err := p.check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if f, err := Load(filepath.Join(t.TempDir(), "none.toml")); err != nil || len(f.Names()) != len(builtins) {
		t.Errorf("without a file: got %v", err)
	}
	big := filepath.Join(t.TempDir(), "big.toml")
	if err := os.WriteFile(big, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil {
		t.Error("got no error of a large file")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("[a]\nextends = \"workspace\"\nread = [\"/\", \"?~/x*\"]\nnetwork = [\"a.b:1\"]\n"))
	f.Add([]byte("[a]\nnetwork = \"on\"\n[b]\nextends=\"a\"\nwrite=[\"$CWD\"]\nmemory=1\ncpus=inf"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Decode("f", src)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			p, err := file.Profile(name)
			if err != nil || p.check() != nil {
				t.Errorf("%s: %+v %v", name, p, err)
			}
		}
	})
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.org", "*.example.org:443", "[::1]:80", "10.0.0.0/8", "*", "::ffff:1.2.3.4", "a:99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err == nil && h.Name == "" && !h.Addr.IsValid() {
			t.Errorf("ParseHost(%q) accepts a host that matches nothing", s)
		}
	})
}

// TestLoadFor_FileWithErrors checks that an error in the file blocks only profiles that the file may define.
//
// FEATURES: R67
func TestLoadFor_FileWithErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.toml")
	for src, want := range map[string]string{
		"[web\n": "workspace readonly",
		"[web]\nextends = \"workspace\"\nnonsense = 1\n":    "workspace readonly",
		"# workspace\n[web]\nread = [\"no\"]\n":             "workspace readonly",
		"[workspace]\nwrite = [\"no\"]\n":                   "readonly",
		"[ \"readonly\" ]\nextends = \"readonly\"\nx = 1\n": "workspace",
		"[\"work\\u0073pace\"]\nx = 1\n":                    "",
		"readonly.network = \"of\"\n":                       "workspace",
	} {
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		var had []string
		for _, name := range []string{"workspace", "readonly", "web"} {
			f, wrong, err := LoadFor(path, name)
			if err == nil && wrong == nil {
				t.Errorf("%q: got no error", src)
			}
			if err == nil {
				if _, err := f.Profile(name); err != nil {
					t.Errorf("%q: %s: %v", src, name, err)
				}
				had = append(had, name)
			}
		}
		if got := strings.Join(had, " "); got != want {
			t.Errorf("%q: got profiles %q, want %q", src, got, want)
		}
	}
}
