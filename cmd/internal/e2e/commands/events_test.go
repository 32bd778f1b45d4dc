//go:build unix

package commands

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// eventsOf gives f every event until it returns false.
func eventsOf(t *testing.T, i *e2e.Instance, query string, ready func(), f func(api.Event) bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://longterm"+api.Version+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := i.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data:")
		if !ok {
			continue
		}
		var e api.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "listening" {
			ready()
			continue
		}
		if !f(e) {
			return
		}
	}
	t.Fatal("the events ended: ", sc.Err())
}

// TestOutputEvents subscribes to output events: printed and drawn output and binary data, a few events per second at
// most. Bells are combined.
//
// FAULT: B23
// FEATURES: R21
func TestOutputEvents(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	const script = `read x; printf 'a\a'; seq 1 60000; n=0; while [ $n -lt 200 ]; do printf '\a'; n=$((n+1)); done
head -c 300000 /dev/urandom; printf '\033c'; echo; echo over; read x`
	i.Run("new", "-n", "a", "--", "sh", "-c", script)
	var next uint64
	var binary uint64
	count, rung := map[string]int{}, 0
	eventsOf(t, i, "?output=true", func() { i.Run("send", "a", "-e", "go") }, func(e api.Event) bool {
		count[e.Kind]++
		switch e.Kind {
		case "data":
			if next > 0 && e.Printed.Start != next || e.Printed.End <= e.Printed.Start {
				t.Errorf("data from %d to %d after %d", e.Printed.Start, e.Printed.End, next)
			}
			next = e.Printed.End
		case "screen":
			if e.Version == 0 {
				t.Error("a screen without a version")
			}
		case "bell":
			rung += e.Count
		case "binary":
			binary = e.Binary
		}
		out, _, _ := i.Try("screen", "a")
		return !strings.Contains(out, "over") || count["data"] == 0 || rung < 201 || binary == 0
	})
	if count["screen"] == 0 || count["bell"] > 150 || count["data"] > 1000 {
		t.Errorf("%v", count)
	}
	eventsOf(t, i, "", func() { i.Run("send", "a", "-e", "end") }, func(e api.Event) bool {
		if e.Kind == "data" || e.Kind == "screen" || e.Kind == "binary" {
			t.Errorf("unrequested event %s", e.Kind)
		}
		return e.Kind != "state"
	})
}

// TestWaitForAnyProgress waits for progress that a program reports, and for progress that it only prints.
//
// FAULT: B23
// FEATURES: R40
func TestWaitForAnyProgress(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for name, prints := range map[string]string{
		"reported": `printf '\033]9;4;1;60\033\\'`,
		"ninja":    `for n in 1 2 3 4 5 6; do echo "[$n/10] CXX file$n.o"; sleep 0.02; done`,
		"percent":  `for n in 10 20 30 40 50 60; do printf '\rReceiving objects: %3d%% (%d/100)' $n $n; sleep 0.02; done`,
	} {
		t.Run(name, func(t *testing.T) {
			i.Run("new", "-n", name, "--", "sh", "-c", "read x; "+prints+"; read x; "+strings.NewReplacer("60", "100", "6;", "6 7 8 9 10;").Replace(prints))
			if _, _, code := i.Try("wait", name, "--for", "progress=50", "--timeout", "1ms"); code != api.ExitTimeout {
				t.Errorf("before its start: %d", code)
			}
			i.Run("send", name, "-e", "go")
			i.Run("wait", name, "--for", "progress=60", "--timeout", "30s")
		})
	}
	// A program that ends with its last line of progress is complete.
	i.Run("new", "-n", "quick", "--", "sh", "-c", "read x; for n in 1 2 3 4; do echo \"[$n/4] CXX f$n.o\"; done")
	i.Run("send", "quick", "-e", "go")
	i.Run("wait", "quick", "--for", "progress=100", "--timeout", "30s")
}

// TestStable runs a program without command marks. It becomes idle, which is a separate outcome.
//
// FAULT: B23
// FEATURES: R41
func TestStable(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "repl", "--", "sh", "-c", `while printf 'calc> ' && read -r x; do echo "= $x"; done`)
	out, _, _ := i.Try("exec", "--json", "repl", "1")
	if r := e2e.Decode[api.Result](t, out); r.State != "exited" || r.Outcome != "stable" || r.ExitCode != nil || strings.TrimSpace(r.Output) != "= 1" {
		t.Errorf("%s", out)
	}
	body, code := i.Post("/sessions/repl/batch", `{"lines":["1","2"],"wait":true}`)
	if b := e2e.Decode[api.Batched](t, body); code != 200 || len(b.Results) != 2 || b.Results[1].Outcome != "stable" {
		t.Errorf("%d %s", code, body)
	}
	body, code = i.Post("/sessions/repl/batch", `{"lines":["1","2"],"wait":true,"stop_on_error":true}`)
	if b := e2e.Decode[api.Batched](t, body); code != 200 || len(b.Results) != 1 || b.LeftOut != 1 { // the first may have failed
		t.Errorf("with stop_on_error: %d %s", code, body)
	}
}
