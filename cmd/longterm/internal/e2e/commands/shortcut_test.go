//go:build linux

package commands

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"net"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/shortcut"
	"github.com/longterm-dev/longterm/session/api"
)

// asked is a request as a daemon sees it, without what differs from one to the next.
type asked struct {
	method, uri, contentType string
	body                     api.NewSession
}

// The requests that are made before the program is initialised are those of the verbs.
func TestShortcutAsksWhatVerbsAsk(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "run", "daemon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []asked // guarded by mu
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{method: r.Method, uri: r.RequestURI, contentType: r.Header.Get("Content-Type")}
		b, _ := io.ReadAll(r.Body)
		if len(b) > 0 {
			if err := json.Unmarshal(b, &a.body); err != nil {
				t.Errorf("%v: %s", err, b)
			}
		}
		a.body.AskID = ""
		a.body.Env = slices.DeleteFunc(a.body.Env, func(kv string) bool { return kv == shortcut.Leave+"=1" })
		mu.Lock()
		seen = append(seen, a)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.Repeat([]byte(`{"id":"x-1","name":"n"}`), 1))
	}))
	s.Listener = l
	s.Start()
	defer s.Close()
	i := &e2e.Instance{T: t, Dir: dir, Exe: e2e.Program(t), Env: append(os.Environ(), "LONGTERM_DIR="+dir)}
	plain := i.Env
	for _, args := range [][]string{
		{"screen", "s.1"}, {"ls"}, {"new", "--", "sleep", "1"}, {"new", "-n", "n", "--", "sh", "-c", "echo \"é\\\" | cat; # \x01"},
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		var out [2]string
		for k := range out {
			i.Env = plain
			if k == 1 {
				i.Env = append(slices.Clone(plain), shortcut.Leave+"=1")
			}
			out[k] = i.Run(args...)
		}
		mu.Lock()
		seen := slices.Clone(seen)
		mu.Unlock()
		if len(seen) != 2 || out[0] != out[1] {
			t.Fatalf("%q: %d requests, %q", args, len(seen), out)
		}
		a, _ := json.Marshal(seen[0].body)
		b, _ := json.Marshal(seen[1].body)
		if seen[0].method != seen[1].method || seen[0].uri != seen[1].uri || seen[0].contentType != seen[1].contentType || !bytes.Equal(a, b) {
			t.Errorf("%q:\n%+v\n%+v", args, seen[0], seen[1])
		}
	}
}

// What does not go as usual is the verb's to say, and is done once.
func TestShortcutLeavesToVerbs(t *testing.T) {
	i := e2e.New(t)
	if _, errOut, code := i.Try("screen", "nothing"); code == 0 || errOut == "" {
		t.Errorf("without a daemon: %d %q", code, errOut)
	}
	i.Run("new", "-n", "once", "--", "sleep", "1000")
	if _, errOut, code := i.Try("new", "-n", "once", "--", "sleep", "1000"); code == 0 || errOut == "" {
		t.Errorf("a name that is taken: %d %q", code, errOut)
	}
	if list := e2e.Decode[[]api.Session](t, i.Run("ls", "--json")); len(list) != 1 {
		t.Errorf("%d sessions", len(list))
	}
	rules := "[[rules]]\nprogram = \"sleep\"\nwords = [\"999\"]\ndecision = \"ask\"\nreason = \"a test\"\nmatch = [\"sleep 999\"]\n"
	if err := os.WriteFile(filepath.Join(i.Dir, "policy.toml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart")
	ended := make(chan int)
	go func() {
		_, _, code := i.Try("new", "-n", "asked", "--", "sleep", "999")
		ended <- code
	}()
	var waiting []api.Approval
	e2e.Eventually(t, "somebody is asked", func() bool {
		waiting = e2e.Decode[[]api.Approval](t, i.Run("approvals", "--json"))
		return len(waiting) > 0
	})
	i.Run("approvals", "answer", waiting[0].ID, "once")
	if code := <-ended; code != 0 {
		t.Errorf("allowed: exit %d", code)
	}
	if all := e2e.Decode[[]api.Approval](t, i.Run("approvals", "ls", "--all", "--json")); len(all) != 1 {
		t.Errorf("asked %d times: %+v", len(all), all)
	}
}

// What is printed before the program is initialised is what the verb prints, of an ended session, whose times stand.
func TestShortcutPrintsWhatVerbsPrint(t *testing.T) {
	i := e2e.New(t)
	if empty := i.Run("ls"); empty != "no sessions; `longterm new` starts one\n" {
		t.Errorf("%q", empty)
	}
	if _, _, code := i.Try("run", "-n", "over", "--label", "a=<&>", "--keep", "--", "sh", "-c", `printf 'a "b" \\ [{,:}]\n'; exit 3`); code != 3 {
		t.Fatalf("exit %d", code)
	}
	plain := i.Env
	for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"screen", "over"}} {
		i.Env = plain
		got := i.Run(args...)
		i.Env = append(slices.Clone(plain), shortcut.Leave+"=1")
		if want := i.Run(args...); got != want || got == "" {
			t.Errorf("%q:\n%s\nwant\n%s", args, got, want)
		}
	}
	i.Env = plain
}
