//go:build unix

package pagesocket

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// reader acts as a page that keeps the sessions' prompts and run times, like page/net.js and page/store.js.
type reader struct {
	seq      uint64
	last     string
	sessions map[string]map[string]any
	asked    map[string]any // by session: the last that was no null
}

func (r *reader) part(id string, seq uint64, part map[string]any) {
	r.seq, r.last = seq, id
	if r.sessions[id] == nil {
		r.sessions[id] = map[string]any{}
	}
	for k, v := range part {
		if r.sessions[id][k] = v; k == "needs_input" && v != nil {
			r.asked[id] = v
		}
	}
}

func (r *reader) short(t *testing.T, b []byte) {
	t.Helper()
	if b[0] == shortProgress {
		r.progress(t, string(b[1:]))
		return
	}
	f := strings.SplitN(string(b[1:]), ",", 4)
	more, err := strconv.ParseUint(f[0], 36, 64)
	if err != nil || b[0] != shortInput || len(f) < 2 {
		t.Fatalf("%q: %v", b, err)
	}
	part := map[string]any{"needs_input": nil}
	switch {
	case len(f) == 4:
		part["needs_input"] = map[string]any{"kind": f[2], "reason": f[3]}
	case len(f) == 3 && f[2] == "":
		part["needs_input"] = r.asked[r.last]
	}
	if f[1] != "" {
		ms, err := strconv.ParseInt(f[1], 36, 64)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		a, _ := r.sessions[r.last]["activity"].(map[string]any)
		a["elapsed_ms"] = float64(ms)
	}
	r.part(r.last, r.seq+more, part)
}

func (r *reader) progress(t *testing.T, text string) {
	t.Helper()
	var n []int64
	for f := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(f, 36, 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		n = append(n, v)
	}
	if len(n) != 5 && len(n) != 6 {
		t.Fatalf("%q", text)
	}
	a, _ := r.sessions[r.last]["activity"].(map[string]any)
	a["elapsed_ms"], a["errors"], a["warnings"] = float64(n[1]), float64(n[3]), float64(n[4])
	a["progress"] = map[string]any{"state": "normal", "percent": float64(n[2])}
	if delete(a, "due"); len(n) == 6 {
		a["due"] = time.UnixMilli(n[5]).UTC()
	}
	r.part(r.last, r.seq+uint64(n[0]), nil)
}

// shows returns the difference between a page's description of a session and the expected one, without the time and
// confidence of a prompt.
func (r *reader) shows(t *testing.T, s *api.Session, kind string) {
	t.Helper()
	members := map[string]any{"needs_input": s.Needs, "activity": s.Activity}
	if kind != "input" { // which contain nothing else
		members["title"] = map[string]any{"is": s.Title}
	}
	for name, want := range members {
		got := r.sessions[s.ID][name]
		if name == "title" {
			got = map[string]any{"is": got}
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		var x, y map[string]any
		_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y)
		for _, k := range []string{"since", "confidence"} {
			delete(x, k)
			delete(y, k)
		}
		if p, ok := y["progress"].(map[string]any); ok { // short updates omit its subject
			delete(p, "label")
			if p, ok := x["progress"].(map[string]any); ok {
				delete(p, "label")
			}
		}
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("%s of %s: the page has %s, want %s", name, s.ID, a, b)
		}
	}
}

// TestShortAsks checks that a page that gets short updates of prompts knows as much as one that gets full ones,
// whatever other updates it gets in between.
//
// FEATURES: R112
func TestShortAsks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var c changes
	page := &reader{sessions: map[string]map[string]any{}, asked: map[string]any{}}
	last := map[string]*api.InputRequest{}
	short, bytes, seq := map[byte]int{}, 0, uint64(1_795_647_527_313_924)
	for step := range 3000 {
		s := &api.Session{ID: fmt.Sprint("s", max(0, rnd.IntN(6)-4)), Argv: []string{"x"}, Title: fmt.Sprint(step / 40 % 2)}
		if rnd.IntN(3) > 0 {
			s.Needs = &api.InputRequest{Kind: []string{"text", "confirm"}[rnd.IntN(2)], Reason: []string{"sh: reads, lines", "{\"é\n,", ""}[rnd.IntN(3)], Confidence: rnd.IntN(99)}
		}
		if rnd.IntN(9) > 0 {
			s.Activity = &api.Activity{Running: rnd.IntN(20) > 0, ElapsedMS: int64(step), Errors: rnd.IntN(20) / 19}
		}
		if a := s.Activity; a != nil && rnd.IntN(2) == 0 {
			a.Progress = &api.Progress{State: "normal", Percent: rnd.IntN(101), Label: fmt.Sprint(step)}
			if rnd.IntN(9) == 0 {
				a.Progress.State = "error"
			}
			if rnd.IntN(2) == 0 {
				at := time.UnixMilli(int64(1_700_000_000_000 + step)).UTC()
				a.Due = &at
			}
		}
		seq += uint64(1 + rnd.IntN(2))
		e := &api.Event{Seq: seq, Kind: "input", Session: s}
		switch rnd.IntN(20) {
		case 0:
			e.Kind = "title"
		case 1:
			e.Binary = 1
		case 2: // the page gets the list
			c.forget("")
			continue
		case 4, 5, 6, 7, 8, 9:
			e.Kind = "progress"
		case 3: // and of what belongs to no session
			c.seq, page.seq = seq, seq
			continue
		}
		if e.Kind == "progress" && rnd.IntN(4) > 0 {
			s.Needs = last[s.ID]
		}
		last[s.ID] = s.Needs
		session, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := c.short(nil, e, session); ok {
			short[b[0]]++
			bytes += len(b)
			page.short(t, b)
		} else {
			b := session
			var only []string
			if e.Kind == "input" {
				only = inputMembers
			}
			if part, known := c.change(nil, s.ID, b, only...); known {
				b = part
			} else {
				c.setAll(s.ID, b)
				delete(page.sessions, s.ID)
			}
			c.note(e)
			var part map[string]any
			if err := json.Unmarshal(b, &part); err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			page.part(s.ID, seq, part)
		}
		if page.seq != seq {
			t.Fatalf("step %d: the page counts to %d, want %d", step, page.seq, seq)
		}
		page.shows(t, s, e.Kind)
	}
	if a, p := short[shortInput], short[shortProgress]; a < 100 || p < 50 || bytes > 30*(a+p) {
		t.Errorf("%d and %d short updates, in %d bytes", a, p, bytes)
	}
	c.setAll("s0", []byte("{}"))
	for n := range 2 * maxKnown {
		c.setAll(fmt.Sprint("many", n), []byte("{}"))
		c.note(&api.Event{Seq: 1, Session: &api.Session{ID: fmt.Sprint("many", n)}})
	}
	if len(c.knownInputs) > maxKnown {
		t.Errorf("%d sessions are known", len(c.knownInputs))
	}
}
