//go:build unix

package pagesocket

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestChanges checks that a page that combines the partial updates of a session has the whole description, except for
// parts that no page shows.
//
// FEATURES: R112
func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c changes
	have := map[string]map[string]any{}
	parts := 0
	for step := range 2000 {
		s := api.Session{ID: fmt.Sprint("s", r.IntN(3)), Name: fmt.Sprintf("a \"{[%d", r.IntN(3)), Argv: []string{"x", "]},\\"}, Version: uint64(step), Duration: int64(step)}
		if r.IntN(2) == 0 {
			s.Needs = &api.InputRequest{Kind: "text", Reason: "} \" , ]", Since: time.Unix(int64(r.IntN(3)), 0).UTC()}
		}
		if r.IntN(2) == 0 {
			s.Title, s.Labels = "<title>", map[string]string{"k": fmt.Sprint(r.IntN(2))}
		}
		if r.IntN(3) == 0 {
			code := r.IntN(2)
			s.ExitCode = &code
		}
		b, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		part, known := c.change(nil, s.ID, b)
		if known != (have[s.ID] != nil) {
			t.Fatalf("step %d: known %v", step, known)
		}
		if !known {
			c.setAll(s.ID, b)
			have[s.ID] = maps.Clone(want)
			continue
		}
		parts += len(part)
		var got map[string]any
		if err := json.Unmarshal(part, &got); err != nil {
			t.Fatalf("%v in %s", err, part)
		}
		maps.Copy(have[s.ID], got)
		for _, name := range memberNames {
			if isSent(name, nil) && !reflect.DeepEqual(have[s.ID][name], want[name]) {
				t.Fatalf("step %d: %s is %v, not %v; last sent %s", step, name, have[s.ID][name], want[name], part)
			}
		}
		if again, _ := c.change(nil, s.ID, b); string(again) != "{}" {
			t.Fatalf("an unchanged part is sent: %s", again)
		}
	}
	if parts > 2000*120 {
		t.Errorf("%d bytes of parts", parts)
	}
	for n := range 3 * maxKnown {
		c.setAll(fmt.Sprint(n), []byte(`{"id":"x"}`))
	}
	if len(c.known) > maxKnown {
		t.Errorf("%d sessions are known", len(c.known))
	}
	if c.forget(""); len(c.known) != 0 {
		t.Error("a removed session is known")
	}
}

// TestChangesOfInput checks that an update for an event about input contains only what belongs to that. The rest is
// sent with the next other event.
//
// FEATURES: R112
func TestChangesOfInput(t *testing.T) {
	var c changes
	c.setAll("s", []byte(`{"id":"s","name":"a"}`))
	for _, step := range []struct{ now, want string }{
		{`{"id":"s","name":"b","needs_input":{"kind":"text"}}`, `{"needs_input":{"kind":"text"}}`},
		{`{"id":"s","name":"b"}`, `{"needs_input":null}`},
	} {
		if got, _ := c.change(nil, "s", []byte(step.now), "needs_input", "activity"); string(got) != step.want {
			t.Errorf("%s, not %s", got, step.want)
		}
	}
	if got, _ := c.change(nil, "s", []byte(`{"id":"s","name":"b"}`)); string(got) != `{"name":"b"}` {
		t.Errorf("%s", got)
	}
}
