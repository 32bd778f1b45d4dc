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

// TestScheduling_Slots checks that a client cannot invent a slot's number, and that read-only tools have their own slots.
//
// FEATURES: R88
func TestScheduling_Slots(t *testing.T) {
	synctest.Test(t, testSchedulingSlots) // where no time passes
}

func testSchedulingSlots(t *testing.T) {
	l := newScheduling()
	free := func(in *fairsched.Scheduler) (n int) { // number of free slots
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
				t.Error("the client's number was kept")
			}
			in := l.slot(r.Header)
			if in == nil {
				t.Fatal("the request has no slot")
			}
			over := fairsched.Wait(fairsched.With(r.Context(), in))
			if a, b := free(l.reads), free(l.others); a != looks || b != others {
				t.Errorf("%s: while it waits: %d and %d slots free", tool, a, b)
			}
			over()
			if l.slot(http.Header{slotHeader: {"77"}}) != nil || l.slot(http.Header{slotHeader: {"x"}}) != nil {
				t.Error("an invented number is a slot's")
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
	if a, b := free(l.reads), free(l.others); a != looks || b != others || len(l.slots) != 0 {
		t.Errorf("%d and %d free, %d held", a, b, len(l.slots))
	}
}

// TestRequest_EndedBeforeSlot checks that the client of a request which ended before it got a slot gets an error.
func TestRequest_EndedBeforeSlot(t *testing.T) {
	l := &scheduling{reads: fairsched.New(0), others: fairsched.New(0)}
	ctx, end := context.WithCancel(t.Context())
	end()
	w := httptest.NewRecorder()
	h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was started") }))
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestScheduling_ToolInBody checks that requests of older revisions, which name the tool in the body only, are scheduled
// by it too.
//
// FEATURES: R88
func TestScheduling_ToolInBody(t *testing.T) {
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
	l := &scheduling{reads: fairsched.New(1), others: fairsched.New(0), slots: map[uint64]*fairsched.Slot{}}
	answered := false
	h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered = true }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"params":{"name":"screen"}}`)))
	if !answered {
		t.Error("a read-only tool waits for others")
	}
}

// TestYield_CountsQueueTime checks that a call is answered within 50 s of its arrival, with its queue time counted, also
// for its yield time. A call without a slot in time gets an error.
//
// FEATURES: R88
func TestYield_CountsQueueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{lifetime: context.Background(), scheduling: &scheduling{others: fairsched.New(1), slots: map[uint64]*fairsched.Slot{}}, limiter: newCallLimiter()}
		ahead := func(n int) { // each keeps the slot for its 50 ms
			for range n {
				go func() { _, _ = s.scheduling.begin(t.Context(), "", "", "exec") }()
			}
			synctest.Wait()
		}
		yield := 30.0
		var came time.Time
		h := s.limitCalls(All)(func(ctx context.Context, _ string, _ sdk.Request) (sdk.Result, error) {
			waited := time.Since(came)
			if waited < 9*time.Second {
				t.Errorf("waited only %v", waited)
			}
			if got := (&callLimits{Yield: &yield}).yield(ctx); got != 30*time.Second-waited {
				t.Errorf("after %v it yields in %v", waited, got)
			}
			if got := (&callLimits{}).yield(ctx); got != max(0, 10*time.Second-waited) {
				t.Errorf("after %v it yields in %v by default", waited, got)
			}
			if by, ok := ctx.Deadline(); !ok || by.Sub(came) != callTime {
				t.Errorf("the call ends %v after its arrival", by.Sub(came))
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
		if r := call(); !r.IsError || time.Since(came) != slotTimeout {
			t.Errorf("%+v after %v", r, time.Since(came))
		}
		if callTime+answerTime >= 50*time.Second || maxYield*float64(time.Second) >= float64(callTime) {
			t.Error("a call may take 50 s or more")
		}
		time.Sleep(time.Minute) // until all have lost their slots
	})
}

// TestRequest_SlotTimeout checks that a request without a slot is answered before its client gives up.
//
// FEATURES: R88
func TestRequest_SlotTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &scheduling{reads: fairsched.New(0), others: fairsched.New(0)}
		h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was started") }))
		w, began := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too many concurrent requests") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if d := time.Since(began); d != slotTimeout {
			t.Errorf("answered after %v", d)
		}
	})
}

// TestCaller_ReadOncePerRequest checks that the caller is read from a request once, however many clients a call uses.
func TestCaller_ReadOncePerRequest(t *testing.T) {
	s := &Server{agents: newAgentClients(func(label, _ string) *client.Client { return client.New(client.Options{Agent: label}) }, "")}
	defer s.agents.close()
	asks := &countingRequest{}
	ctx := context.WithValue(t.Context(), requestKey{}, &request{Request: asks})
	if first, again := s.client(ctx), s.client(ctx); first != again || asks.lookups != 1 {
		t.Errorf("read %d times", asks.lookups)
	}
	if s.client(t.Context()) != s.agents.forLabel("", "") {
		t.Error("a context without request has another client")
	}
}

// countingRequest counts how often its client information is read.
type countingRequest struct {
	sdk.CallToolRequest
	lookups int
}

func (a *countingRequest) ClientInfo() *sdk.Implementation {
	a.lookups++
	return &sdk.Implementation{Name: "one"}
}
