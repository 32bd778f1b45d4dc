//go:build unix

package mcp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/fairsched"
)

// A slot's number is not the client's to make up; what only looks has slots of its own.
//
// FEATURES: R88
func TestSlotsOfRequests(t *testing.T) {
	synctest.Test(t, slotsOfRequests) // where no time passes
}

func slotsOfRequests(t *testing.T) {
	l := newLanes()
	free := func(in *fairsched.Scheduler) (n int) { // as many as can be begun at once
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for {
			s, err := in.Begin(ctx, "", "")
			if err != nil {
				return n
			}
			n++
			defer s.End()
		}
	}
	looks, others := free(l.reads), free(l.others)
	ask := func(tool string, wantLooks, wantOthers int) {
		h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if a, b := free(l.reads), free(l.others); a != wantLooks || b != wantOthers {
				t.Errorf("%s: %d and %d slots are free, want %d and %d", tool, a, b, wantLooks, wantOthers)
			}
			if r.Header.Get(slotHeader) == "77" {
				t.Error("the client's number stands")
			}
			in := l.slot(r.Header)
			if in == nil {
				t.Fatal("the request has no slot")
			}
			over := fairsched.Wait(fairsched.With(r.Context(), in))
			if a, b := free(l.reads), free(l.others); a != looks || b != others {
				t.Errorf("%s: while it waits %d and %d slots are free", tool, a, b)
			}
			over()
			if l.slot(http.Header{slotHeader: {"77"}}) != nil || l.slot(http.Header{slotHeader: {"x"}}) != nil {
				t.Error("a number that was made up is a slot's")
			}
		}))
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set(slotHeader, "77")
		r.Header.Set("Mcp-Name", tool)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("screen", looks-1, others)
	ask("wait", looks, others-1)
	ask("of the client's invention", looks, others-1)
	if a, b := free(l.reads), free(l.others); a != looks || b != others || len(l.held) != 0 {
		t.Errorf("%d and %d free, %d held", a, b, len(l.held))
	}
}

// Who still waits for a request that ended before its turn is told that nothing was done.
func TestRequestThatEndsBeforeItsTurn(t *testing.T) {
	l := &scheduling{reads: fairsched.New(0), others: fairsched.New(0)}
	ctx, end := context.WithCancel(t.Context())
	end()
	w := httptest.NewRecorder()
	h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is begun") }))
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A request of the older revisions names its tool in its body only: what looks is not behind what does more there, either.
//
// FEATURES: R88
func TestLanesOfToolsInBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"screen","arguments":{"session":"wait"}}}`: "screen",
		"{\"params\" : {\"_meta\":{\"name\":\"x\"},\n \"name\" :\t\"wait\"}}":                                      "wait",
		`{"method":"tools/list"}`:                                 "",
		`{"params":{"name":"screens"}}`:                           "",
		`{"params":{"name":"screen`:                               "screen",
		`{"params":{"name":5,"name"`:                              "",
		`{"params":{"name":"` + strings.Repeat("x", 5000) + `"}}`: "",
		strings.Repeat(" ", 2*peekBytes) + `{"name":"screen"}`:    "",
		"": "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
		if got := toolOf(r); got != want {
			t.Errorf("%.80q: %q", body, got)
		}
		if all, err := io.ReadAll(r.Body); err != nil || string(all) != body {
			t.Errorf("%.80q: the body is %.80q then, %v", body, all, err)
		}
	}
	l := &scheduling{reads: fairsched.New(1), others: fairsched.New(0), held: map[uint64]*fairsched.Slot{}}
	answered := false
	h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered = true }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"params":{"name":"screen"}}`)))
	if !answered {
		t.Error("it waits for those that do more")
	}
}

// A call is answered within 50 s of when it came: what it waited for its turn counts, for its yield time too. One whose turn
// does not come is told so.
//
// FEATURES: R88
func TestWaitingForATurnCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{ending: context.Background(), lanes: &scheduling{others: fairsched.New(1), held: map[uint64]*fairsched.Slot{}}, places: newPlaces()}
		ahead := func(n int) { // each of whom keeps the slot for the 50 ms that it may
			for range n {
				go func() { _, _ = s.lanes.begin(t.Context(), "", "", "exec") }()
			}
			synctest.Wait()
		}
		yield := 30.0
		var came time.Time
		h := s.calls(All)(func(ctx context.Context, _ string, _ sdk.Request) (sdk.Result, error) {
			waited := time.Since(came)
			if waited < 9*time.Second {
				t.Errorf("it waited for %v only", waited)
			}
			if got := (&callLimits{Yield: &yield}).yield(ctx); got != 30*time.Second-waited {
				t.Errorf("after %v it yields in %v", waited, got)
			}
			if got := (&callLimits{}).yield(ctx); got != max(0, 10*time.Second-waited) {
				t.Errorf("after %v it yields in %v by default", waited, got)
			}
			if by, ok := ctx.Deadline(); !ok || by.Sub(came) != callTime {
				t.Errorf("it ends %v after it came", by.Sub(came))
			}
			return &sdk.CallToolResult{}, nil
		})
		call := func() *sdk.CallToolResult {
			t.Helper()
			came = time.Now()
			r, err := h(t.Context(), "tools/call", &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: "exec"}})
			if err != nil {
				t.Fatal(err)
			}
			return r.(*sdk.CallToolResult)
		}
		ahead(190)
		if r := call(); r.IsError {
			t.Errorf("%+v", r)
		}
		ahead(1000)
		if r := call(); !r.IsError || time.Since(came) != turnTime {
			t.Errorf("%+v after %v", r, time.Since(came))
		}
		if callTime+answerTime >= 50*time.Second || maxYield*float64(time.Second) >= float64(callTime) {
			t.Error("a call may take 50 s")
		}
		time.Sleep(time.Minute) // until all have lost their slots
	})
}

// A request whose turn does not come is answered before its client gives up.
//
// FEATURES: R88
func TestRequestWhoseTurnDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &scheduling{reads: fairsched.New(0), others: fairsched.New(0)}
		h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is begun") }))
		w, began := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too many concurrent requests") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if d := time.Since(began); d != turnTime {
			t.Errorf("told after %v", d)
		}
	})
}

// Who asks is read from a request once, however many clients a call takes.
func TestCaller_ReadOncePerRequest(t *testing.T) {
	s := &Server{agents: newAgents(func(label, _ string) *client.Client { return client.New(client.Options{Agent: label}) }, "")}
	defer s.agents.close()
	asks := &asking{}
	ctx := context.WithValue(t.Context(), requestKey{}, &request{Request: asks})
	if first, again := s.client(ctx), s.client(ctx); first != again || asks.asked != 1 {
		t.Errorf("asked %d times", asks.asked)
	}
	if s.client(t.Context()) != s.agents.forLabel("", "") {
		t.Error("a context of no request has another client")
	}
}

// asking is a request that counts how often it is asked whose it is.
type asking struct {
	sdk.CallToolRequest
	asked int
}

func (a *asking) ClientInfo() *sdk.Implementation {
	a.asked++
	return &sdk.Implementation{Name: "one"}
}
