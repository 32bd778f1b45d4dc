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
		o := confine.Observed{Did: did, Path: rest}
		if did == "connect" {
			o = confine.Observed{Did: did, Host: rest}
		}
		all = append(all, o)
	}
	p := Learn("learned", all, at)
	text := string(Put([]byte("[a]\nread = [\"/\"]\n\n[learned]\nread = [\"/old\"]\n[b]\nextends = \"a\"\n"), p))
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
	if got.Network != NetworkHosts || strings.Join(got.Hosts, " ") != "1.2.3.4:443" || got.UnixSockets || strings.Join(got.Programs, " ") != "/usr/bin/make" || got.OnDiffer != "ask" {
		t.Errorf("%+v", got)
	}
	if _, err := f.Profile("b"); err != nil {
		t.Errorf("the others are lost: %v", err)
	}
}

func FuzzReadObserved(f *testing.F) {
	f.Add("{\"did\":\"read\",\"path\":\"/a\"}\nend\n")
	f.Add("{\"did\":\"make\",\"path\":\"/a\\u0000\\n]\"}\n{\"did\":\"connect\",\"host\":\"x\"}\nend\n")
	f.Fuzz(func(t *testing.T, s string) {
		all, err := ReadObserved(strings.NewReader(s))
		if err != nil {
			return
		}
		p := Learn("x", all, Place{Home: "/h", Cwd: "/h/w"})
		if _, err := Decode("f", Put(nil, p)); err != nil && !strings.Contains(err.Error(), "[x]: ") {
			t.Errorf("%v:\n%s", err, p.Text())
		}
	})
}
