//go:build unix

package waitrun

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// FAULT: G20
func TestRefusals_PrintedOnce(t *testing.T) {
	var out bytes.Buffer
	r := refusals{w: &out}
	for _, f := range []api.RespondFiring{
		{Rule: "1", Error: "env:PW not sent: the terminal echoes"},
		{Rule: "1", Error: "env:PW not sent: the terminal echoes"}, // in the result, too
		{Rule: "1"},
		{Rule: "1", Name: "pw", Time: time.Unix(9, 0), Error: "gone"},
	} {
		r.print(&f)
	}
	if want := "longterm: rule 1: env:PW not sent: the terminal echoes\nlongterm: rule pw: gone\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}

// TestRefusals_BeforeListening checks that a refusal is printed although it came before the client listened for events.
//
// FAULT: G20
func TestRefusals_BeforeListening(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt") // short enough for a socket
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
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/s/respond/log") {
			http.NotFound(w, r) // no events
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]api.RespondFiring{{Rule: "1", Error: "env:PW not sent"}, {Rule: "2"}})
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	defer func() { _ = srv.Close(); <-served }()
	c := Caller{Client: client.New(client.Options{Dirs: dirs, Build: func() string { return "test" }})}
	var out bytes.Buffer
	c.followRunRefusals(t.Context(), c.Client.Session("s"), &refusals{w: &out})()
	if want := "longterm: rule 1: env:PW not sent\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
