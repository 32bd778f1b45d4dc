//go:build unix

package main

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// TestWriteStarted_NamesSession_OnTerminal checks that a terminal gets the name and the next step, a pipe the id.
//
// FEATURES: R1
func TestWriteStarted_NamesSession_OnTerminal(t *testing.T) {
	s := api.Session{ID: "b86e09d9-a3d2-4da8-866f-74eb6d21c1ad", Name: "work"}
	for terminal, want := range map[bool]string{false: s.ID + "\n", true: "session work started; attach to it with `longterm attach work`\n"} {
		var b strings.Builder
		if writeStarted(&b, &s, terminal); b.String() != want {
			t.Errorf("terminal %v: %q, want %q", terminal, b.String(), want)
		}
	}
}

// TestNamedSessionOverADeath checks that a client that requests a session by name gets it even if the daemon dies while
// it restarts it: the client checks the result and reports no error. A rejection is reported.
//
// FEATURES: R116
func TestNamedSessionOverADeath(t *testing.T) {
	const ended, running, refusal = `[{"id":"x","name":"n","state":"ended"}]`, `[{"id":"x","name":"n","state":"running"}]`, `{"code":"usage","message":"no"}`
	for _, c := range []struct {
		name  string
		lists []string // in order; between them the client restarts it
		dies  bool     // while it is
		asked int      // number of expected requests
		want  string
	}{
		{"it was done", []string{ended, running}, true, 1, "x"},
		{"it was not done, three times", []string{ended}, true, 3, ""},
		{"it is refused", []string{ended}, false, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "lt") // a name short enough for a socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			dirs := paths.Dirs{Run: dir + "/run", State: dir + "/state", Config: dir}
			if err := dirs.Make(); err != nil {
				t.Fatal(err)
			}
			l, err := netsock.Listen(dirs.Socket())
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32 // a request whose connection was lost may still be in its handler
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodGet:
					_, _ = w.Write([]byte(c.lists[min(int(asked.Load()), len(c.lists)-1)]))
				case c.dies:
					asked.Add(1)
					panic(http.ErrAbortHandler)
				default:
					asked.Add(1)
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(refusal))
				}
			})}
			done := make(chan struct{})
			go func() { defer close(done); _ = srv.Serve(l) }()
			cl := client.New(client.Options{Dirs: dirs, Build: func() string { return "test" }})
			s, err := ensure(t.Context(), cl, api.NewSession{Name: "n"})
			cl.Close()
			_ = srv.Close()
			<-done
			var e *api.Error
			if s.ID != c.want || int(asked.Load()) != c.asked || (c.want == "") != errors.As(err, &e) {
				t.Errorf("%q, %v, asked %d times", s.ID, err, asked.Load())
			}
		})
	}
}

// TestMisplacedFlagHint_NamesFlagOfRun checks that a flag of run behind its command is reported, unless "--" stands before it.
//
// FEATURES: R1
func TestMisplacedFlagHint_NamesFlagOfRun(t *testing.T) {
	for line, want := range map[string]string{
		"run echo a b --timeout 2s":      "--timeout is passed to echo; a flag of run goes before the command; `longterm run -- echo a b --timeout 2s` omits this hint",
		"run -- echo --timeout 2s":       "",
		"run echo -- --timeout 2s":       "",
		"run echo --other":               "",
		"run --timeout 2s echo --timing": "",
	} {
		run, args, err := rootCommand(newApp(), nil).Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := run.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if got := misplacedFlagHint(run, run.Flags().Args()); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
