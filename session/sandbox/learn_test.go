package sandbox

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
)

// FEATURES: R108
func TestLearn(t *testing.T) {
	at := Place{Home: "/home/u", Cwd: "/home/u/w"}
	var all []confine.Observed
	for _, s := range strings.Fields("exec:/usr/bin/make read:/etc/passwd read:/usr/lib/x.so read:/home/u/.npmrc read:/home/u/w/Makefile make:/home/u/w/out/a write:/home/u/w/log make:/tmp/x read:/proc/self/maps read:/var/lib/one connect:1.2.3.4:443 connect:9.9.9.9:53 unix:/run/nscd/socket") {
		did, rest, _ := strings.Cut(s, ":")
		o := confine.Observed{Operation: did, Path: rest}
		if did == "connect" {
			o = confine.Observed{Operation: did, Host: rest}
		}
		all = append(all, o)
	}
	p := Learn("learned", all, at)
	text := string(PutProfile([]byte("[a]\nread = [\"/\"]\n\n[learned]\nread = [\"/old\"]\n[b]\nextends = \"a\"\n"), p))
	f, err := Decode("sandbox.toml", []byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	got, err := f.Profile("learned")
	if err != nil {
		t.Fatal(err)
	}
	if r := strings.Join(got.Read, " "); r != "?/etc ?~/.npmrc ?$CWD/Makefile ?/usr ?/var/lib/one" {
		t.Error("read", r)
	}
	if w := strings.Join(got.Write, " "); w != "?$CWD/log ?$CWD/out" {
		t.Error("write", w)
	}
	if got.Network != NetworkHosts || strings.Join(got.Hosts, " ") != "1.2.3.4:443" || got.UnixSockets || strings.Join(got.Programs, " ") != "/usr/bin/make" || got.OnDifference != "ask" {
		t.Errorf("%+v", got)
	}
	if _, err := f.Profile("b"); err != nil {
		t.Errorf("got no other profiles: %v", err)
	}
}

// TestLearn_WorkingDirectory checks that a learned profile includes the working directory even if the command accessed
// nothing there, and OmittedWrites lists the files in private directories.
//
// FEATURES: R108
func TestLearn_WorkingDirectory(t *testing.T) {
	for _, row := range []struct{ cwd, did, read, left string }{
		{"/home/u/w", "read:/usr/lib/x.so", "?/usr $CWD", ""}, {"/tmp/w", "read:/usr/lib/x.so", "?/usr $CWD", ""},
		{"/home/u/w", "read:/home/u/w/f", "?$CWD/f", ""}, {"/usr/src", "read:/usr/lib/x.so", "?/usr", ""}, {"/", "read:/usr/lib/x.so", "?/usr", ""},
		{"/home/u/w", "make:/tmp/a/b", "$CWD", "/tmp/a/b"}, {"/tmp/a", "make:/tmp/a/b", "", ""}, {"/home/u/w", "write:/dev/null", "$CWD", ""},
	} {
		did, path, _ := strings.Cut(row.did, ":")
		at, all := Place{Home: "/home/u", Cwd: row.cwd}, []confine.Observed{{Operation: did, Path: path}}
		if got := strings.Join(Learn("x", all, at).Read, " "); got != row.read {
			t.Errorf("%+v: read %s", row, got)
		}
		if got := strings.Join(OmittedWrites(all, at), " "); got != row.left {
			t.Errorf("%+v: omitted %s", row, got)
		}
	}
}

func FuzzReadObserved(f *testing.F) {
	f.Add("{\"did\":\"read\",\"path\":\"/a\"}\nend\n")
	f.Add("{\"did\":\"make\",\"path\":\"/a\\u0000\\n]\"}\n{\"did\":\"connect\",\"host\":\"x\"}\nend\n")
	f.Add("{\"did\":\"read\",\"path\":\"\xff\x7f\"}\nend\n")
	f.Fuzz(func(t *testing.T, s string) {
		all, err := ReadObserved(strings.NewReader(s))
		if err != nil {
			return
		}
		p := Learn("x", all, Place{Home: "/h", Cwd: "/h/w"})
		if _, err := Decode("f", PutProfile(nil, p)); err != nil && !strings.Contains(err.Error(), "[x]: ") {
			t.Errorf("%v:\n%s", err, p.Text())
		}
	})
}

// TestLearn_Directories checks that a profile includes a cache's directory, since the file names in it change.
//
// FEATURES: R108
func TestLearn_Directories(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef"
	at := Place{Home: "/home/u", Cwd: "/home/u/w"}
	for path, want := range map[string]string{
		"/home/u/.cache/go-build/01/" + digest + "-d": "/home/u/.cache/go-build",
		"/home/u/.cache/one":                          "/home/u/.cache/one",
		"/home/u/go/pkg/mod/example.org/x@v1/a.go":    "/home/u/go/pkg/mod",
		"/home/u/go/src/a.go":                         "/home/u/go/src/a.go",
		"/home/u/w/build/objects/ab/" + digest:        "/home/u/w/build/objects",
		"/home/u/w/" + digest + ".o":                  "/home/u/w/" + digest + ".o",
		"/srv/cache/" + digest + "/sub/" + digest:     "/srv/cache",
		"/srv/" + digest:                              "/srv/" + digest,
		"/home/u/w/main.go":                           "/home/u/w/main.go",
	} {
		if got := at.generalize(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for cwd, want := range map[string]string{"/home/u/w": "$CWD", "/home/u": "", "/": ""} { // only the user may grant a home directory
		if got := strings.Join(Learn("x", nil, Place{Home: "/home/u", Cwd: cwd}).Read, " "); got != want {
			t.Errorf("started in %s: got read %q, want %q", cwd, got, want)
		}
	}
	p := Learn("x", []confine.Observed{{Operation: "write", Path: "/home/u/.cache/go-build/01/" + digest + "-d"}, {Operation: "make", Path: "/home/u/.cache/go-build/02/" + digest + "-a"}}, at)
	if got := strings.Join(p.Write, " "); got != "?~/.cache/go-build" {
		t.Error(got)
	}
}
