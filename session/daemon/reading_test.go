//go:build unix

package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestOutputFromAnywhere checks that output is read from any offset, line or time, in pieces that join, as bytes and as
// text, also under the next daemon. Earlier output is not repeated; an offset beyond the end is rejected.
//
// FEATURES: R20 R21
func TestOutputFromAnywhere(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "counts", Argv: []string{"sh", "-c", "seq -f 'line %g' 0 2999; exit 0"}})
	r.wait("counts", api.Condition{Kind: "exit"})
	var want strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&want, "line %d\r\n", i)
	}
	for _, daemon := range []string{"the first daemon", "the next one"} {
		var all []byte
		for at := uint64(0); ; {
			o := get[api.Output](r, "GET", fmt.Sprintf("/sessions/counts/output?from=%d&max=777", at), nil)
			if o.From != at || o.Next != at+uint64(len(o.Data)) || o.Gap != 0 || len(o.Data) > 777 {
				t.Fatalf("%s: from %d: %d to %d, gap %d", daemon, at, o.From, o.Next, o.Gap)
			}
			all, at = append(all, o.Data...), o.Next
			if o.End {
				break
			}
		}
		if string(all) != want.String() {
			t.Fatalf("%s: %d bytes, want %d", daemon, len(all), want.Len())
		}
		for _, c := range []struct{ query, begins string }{
			{"at=line:0", "line 0\n"}, {"at=line:1", "line 1\n"}, {"at=line:2999", "line 2999\n"}, {"at=line:5000", ""},
			{fmt.Sprint("from=", strings.Index(want.String(), "line 1234")), "line 1234\n"}, {"at=%2B0s", "line 0\n"},
		} {
			o := get[api.OutputText](r, "GET", "/sessions/counts/output/text?max_output=100000&"+c.query, nil)
			if !strings.HasPrefix(o.Text, c.begins) || c.begins == "" && o.Text != "" || !o.End {
				t.Errorf("%s: %s starts with %.40q, want %q", daemon, c.query, o.Text, c.begins)
			}
		}
		o := get[api.OutputText](r, "GET", "/sessions/counts/output/text?max_output=400", nil)
		if !o.Truncated || o.Omitted == nil || o.Omitted.Start == 0 || len(o.Text) > 400 || !strings.HasPrefix(o.Text, "line 0\n") || !strings.HasSuffix(o.Text, "line 2999\n") {
			t.Errorf("%s: within 400 bytes: %q, %+v", daemon, o.Text, o.Omitted)
			continue
		}
		left := get[api.OutputText](r, "GET", fmt.Sprintf("/sessions/counts/output/text?max_output=100000&from=%d&to=%d", o.Omitted.Start, o.Omitted.End), nil)
		if n := strings.Count(left.Text, "\n") + strings.Count(o.Text, "line "); n < 3000 || n > 3001 {
			t.Errorf("%s: omitted and returned lines are %d in total", daemon, n)
		}
		if e := r.refused("GET", "/sessions/counts/output?from=99999999", nil); e.Code != api.CodeInvalid {
			t.Errorf("%s: beyond the end: %+v", daemon, e)
		}
		r.again()
	}
}

// TestOutputOfPipes checks that output on pipes is returned by stream, and merged in its order of arrival.
//
// FEATURES: R9
func TestOutputOfPipes(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	next := []func(string){gate(t, dir, "1"), gate(t, dir, "2")} // a shell that is quick would open one again before it is closed
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "pipes", Pipe: true, Cwd: dir, Argv: []string{"sh", "-c", "echo out 1; read x < 1; echo err 1 >&2; read x < 2; echo out 2"}})
	for i, text := range []string{"out 1", "err 1"} { // each is read before the next is printed
		r.wait("pipes", api.Condition{Kind: "text", Text: text})
		next[i]("on")
	}
	r.wait("pipes", api.Condition{Kind: "exit"})
	for query, want := range map[string]string{"": "out 1\nerr 1\nout 2\n", "&stream=stdout": "out 1\nout 2\n", "&stream=stderr": "err 1\n"} {
		if o := get[api.OutputText](r, "GET", "/sessions/pipes/output/text?max_output=1000"+query, nil); o.Text != want {
			t.Errorf("%q: %q, want %q", query, o.Text, want)
		}
	}
	o := get[api.Output](r, "GET", "/sessions/pipes/output", nil)
	told := ""
	for _, run := range o.Streams {
		told += run.Stream + ":" + string(o.Data[:run.Bytes])
		o.Data = o.Data[run.Bytes:]
	}
	if told != "stdout:out 1\nstderr:err 1\nstdout:out 2\n" {
		t.Errorf("%q", told)
	}
	o = get[api.Output](r, "GET", "/sessions/pipes/output?stream=stderr", nil)
	if string(o.Data) != "err 1\n" || o.Next != uint64(len("out 1\nerr 1\nout 2\n")) {
		t.Errorf("%q up to %d", o.Data, o.Next)
	}
}

// TestWaitsForEachCondition checks that each wait condition matches when it becomes true, not before. One that can no
// longer become true ends with the session.
//
// FEATURES: R24
func TestWaitsForEachCondition(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	steps := []struct {
		prints string
		cond   api.Condition
	}{
		{"hello there", api.Condition{Kind: "text", Text: "hello there"}},
		{"take 42", api.Condition{Kind: "regexp", Pattern: `take \d+`}},
		{`\033]2;a title\007`, api.Condition{Kind: "title", Text: "a title"}},
		{`\007`, api.Condition{Kind: "bell"}},
		{`\033]9;4;1;70\007`, api.Condition{Kind: "progress", Percent: 70}},
		{`\033[?1049h`, api.Condition{Kind: "fullscreen"}},
		{`\033[?1049l`, api.Condition{Kind: "fullscreen", Off: true}},
		{`\033[5;7H`, api.Condition{Kind: "cursor", Row: ptr(4), Col: ptr(6)}},
		{`\033[2J\033[H`, api.Condition{Kind: "gone", Text: "hello there"}},
	}
	var script strings.Builder
	var next []func(string) // a pipe for each step: the shell may still have the previous one open
	for i, s := range steps {
		next = append(next, gate(t, dir, fmt.Sprint("next", i)))
		fmt.Fprintf(&script, "read x < next%d; printf '%s'; ", i, s.prints)
	}
	end := gate(t, dir, "end")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "steps", Cwd: dir, Argv: []string{"sh", "-c", script.String() + "read x < end"}})
	for i, s := range steps {
		w := get[api.Waited](r, "POST", "/sessions/steps/wait", api.Wait{Conds: []api.Condition{s.cond}, TimeoutMS: 1})
		if s.cond.Kind != "gone" && s.cond.Off == (s.cond.Kind == "fullscreen") && w.Outcome != "timeout" {
			t.Errorf("%s before it is so: %+v", s.cond.Kind, w)
		}
		done := make(chan answer, 1)
		go func() {
			done <- r.ask("POST", "/sessions/steps/wait", api.Wait{Conds: []api.Condition{s.cond}, Since: ptr(uint64(0))})
		}()
		next[i]("on")
		var fired api.Waited
		if a := <-done; json.Unmarshal(a.body, &fired) != nil || fired.Outcome != "fired" || len(fired.Fired) != 1 || fired.Fired[0].Condition.Kind != s.cond.Kind {
			t.Errorf("%s: %d %s", s.cond.Kind, a.status, a.body)
		}
	}
	done := make(chan answer, 1)
	go func() {
		done <- r.ask("POST", "/sessions/steps/wait", api.Wait{Conds: []api.Condition{{Kind: "exit"}, {Kind: "text", Text: "never"}}, All: true})
	}()
	end("end")
	var w api.Waited
	if a := <-done; json.Unmarshal(a.body, &w) != nil || w.Outcome != "ended" || len(w.Fired) != 1 {
		t.Errorf("an impossible condition: %d %s", a.status, a.body)
	}
}

// TestWait_LimitByCaller checks that a user's or script's wait has no limit by default. An agent's ends after
// exec.timeout, unless the agent gives another limit or none.
//
// FAULT: G10
// FEATURES: R24
func TestWait_LimitByCaller(t *testing.T) {
	t.Parallel()
	dirs := testDirs(t)
	if err := errors.Join(os.MkdirAll(dirs.Config, 0o700), os.WriteFile(filepath.Join(dirs.Config, "config.toml"), []byte("[exec]\ntimeout = \"20ms\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r := startDaemon(t, dirs)
	t.Cleanup(func() { r.leave() })
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "cat", Argv: []string{"cat"}})
	bot := r.as("bot")
	w := api.Wait{Since: ptr(uint64(0)), Conds: []api.Condition{{Kind: "text", Text: "at last"}}}
	waits := func(r *running, limit int64) <-chan answer {
		done := make(chan answer, 1)
		w := w
		w.TimeoutMS = limit
		go func() { done <- r.ask("POST", "/sessions/cat/wait", w) }()
		return done
	}
	patient := []<-chan answer{waits(r, 0), waits(r, -1), waits(bot, -1), waits(bot, time.Hour.Milliseconds())}
	for _, limit := range []int64{0, 20} {
		if a := <-waits(bot, limit); !strings.Contains(string(a.body), `"outcome":"timeout"`) {
			t.Errorf("an agent, limit %d: %d %s", limit, a.status, a.body)
		}
	}
	get[api.Typed](r, "POST", "/sessions/cat/input", api.Input{Text: "at last", Enter: true})
	for i, done := range patient {
		if a := <-done; !strings.Contains(string(a.body), `"outcome":"fired"`) {
			t.Errorf("patient %d: %d %s", i, a.status, a.body)
		}
	}
}

// TestInputIsTypedOnce checks that input is typed once per id, not at all if the screen has changed or a secret would
// be shown, and in the order of the requests.
//
// FEATURES: R6
func TestInputIsTypedOnce(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "cat", Argv: []string{"cat"}})
	typed := func(in api.Input) answer { return r.ask("POST", "/sessions/cat/input", in) }
	for range 3 {
		if a := typed(api.Input{Text: "once", Enter: true, ID: "one"}); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	r.wait("cat", api.Condition{Kind: "regexp", Pattern: "once\nonce|once"})
	r.again()
	typed(api.Input{Text: "once", Enter: true, ID: "one"})
	typed(api.Input{Text: "twice", Enter: true, ID: "two"})
	w := get[api.Waited](r, "POST", "/sessions/cat/wait", api.Wait{Since: ptr(uint64(0)), Conds: []api.Condition{{Kind: "text", Text: "twice"}}})
	get[api.Waited](r, "POST", "/sessions/cat/wait", api.Wait{Conds: []api.Condition{{Kind: "quiet", QuietMS: 50}}})
	o := get[api.OutputText](r, "GET", "/sessions/cat/output/text?max_output=1000", nil)
	if o.Text != "once\nonce\ntwice\ntwice\n" { // each echoed, and printed
		t.Errorf("typed more than once: %q", o.Text)
	}
	var e api.Error
	a := typed(api.Input{Text: "x", ExpectVersion: 1})
	if _ = json.Unmarshal(a.body, &e); a.status == http.StatusOK || e.Code != api.CodeStale {
		t.Errorf("a screen that changed (%d): %d %s", w.Version, a.status, a.body)
	}
	a = typed(api.Input{Text: "secret", Secret: true})
	if _ = json.Unmarshal(a.body, &e); a.status == http.StatusOK || e.Hint == "" {
		t.Errorf("a secret that would be shown: %d %s", a.status, a.body)
	}
	for range 20 {
		typed(api.Input{Text: "ab"})
	}
	typed(api.Input{Keys: []string{"Enter"}})
	if w := r.wait("cat", api.Condition{Kind: "text", Text: strings.Repeat("ab", 20)}); w.Outcome != "fired" {
		t.Errorf("out of order: %+v", w)
	}
}

// TestSearchInPages checks that output is found in running and ended sessions, newest first, in pages that join and
// repeat nothing.
//
// FEATURES: R36
func TestSearchInPages(t *testing.T) {
	t.Parallel()
	r := serve(t)
	for _, name := range []string{"first", "second"} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"sh", "-c", "seq -f '" + name + " needle %g of Many' 0 29; echo other"}})
		r.wait(name, api.Condition{Kind: "exit"})
	}
	search := func(query url.Values) api.Found {
		t.Helper()
		return get[api.Found](r, "GET", "/search?"+query.Encode(), nil)
	}
	seen, before := map[string]int{}, ""
	for range 20 {
		q := url.Values{"text": {"needle"}, "limit": {"7"}}
		if before != "" {
			q.Set("before", before)
		}
		f := search(q)
		for _, h := range f.Hits {
			seen[strings.TrimSpace(h.Text)]++
		}
		if before = f.Next; before == "" {
			break
		}
	}
	if len(seen) != 60 {
		t.Errorf("%d lines are found, of 60", len(seen))
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%q is found %d times", text, n)
		}
	}
	for _, c := range []struct {
		query url.Values
		want  int
	}{
		{url.Values{"text": {"NEEDLE 3"}}, 2}, {url.Values{"text": {"NEEDLE 3"}, "case": {"true"}}, 0},
		{url.Values{"text": {"needle 3 "}, "session": {"first"}}, 1}, {url.Values{"regexp": {`needle 1\d `}}, 20},
		{url.Values{"word": {"many", "second"}}, 30}, {url.Values{"text": {"needle"}, "until": {"-1h"}}, 0},
		{url.Values{"text": {"nowhere to be found"}}, 0},
	} {
		if f := search(c.query); len(f.Hits) != c.want {
			t.Errorf("%v: %d hits, want %d", c.query, len(f.Hits), c.want)
		}
	}
}
