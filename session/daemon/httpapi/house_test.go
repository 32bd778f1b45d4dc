//go:build unix

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/inbox"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/ports"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sshhosts"
	"github.com/longterm-dev/longterm/session/daemon/subscriptions"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/store/search"
)

// Ids of the sessions of a house. The first two have a common prefix.
const (
	ownID   = "aaaa1111-0000-4000-8000-000000000001"
	otherID = "aaaa2222-0000-4000-8000-000000000002"
	ruledID = "bbbb3333-0000-4000-8000-000000000003"
)

// house is the HTTP half of a daemon without keepers: its sessions have ended. It implements the daemon's interface
// itself.
type house struct {
	*Server
	tokens  *apitoken.Store
	audit   *audit.Log
	keepers []int
	web     api.Web
	subs    *subscriptions.Set
	push    *push.Set
}

func (h *house) OpenWeb(o api.OpenWeb) (api.Web, error) {
	h.web = api.Web{On: true, Listen: "127.0.0.1:7719", URL: "http://127.0.0.1:7719/", Local: true}
	return h.web, nil
}

func (h *house) Status(context.Context) api.Status                                  { return api.Status{} }
func (h *house) Stop(api.Stop)                                                      {}
func (h *house) Upgrade(context.Context, string) error                              { return errors.New("no upgrade") }
func (h *house) Audit() *audit.Log                                                  { return h.audit }
func (h *house) Tokens() *apitoken.Store                                            { return h.tokens }
func (h *house) Web() api.Web                                                       { return h.web }
func (h *house) CloseWeb() error                                                    { h.web = api.Web{}; return nil }
func (*house) ShareByRelay(context.Context, apitoken.Token, string) (string, error) { return "", nil }
func (*house) TokensRemoved()                                                       {}
func (h *house) Push() *push.Set                                                    { return h.push }
func (h *house) Ports() *ports.Watch                                                { return nil }
func (h *house) Subscriptions() *subscriptions.Set                                  { return h.subs }
func (h *house) Inbox() *inbox.Set                                                  { return inbox.New(h.reg, h.gate, h.store, h.conf, h.log) }
func (h *house) Fleet() *fleetmember.Member                                         { return fleetmember.New(fleetmember.Config{}) }
func (h *house) SSH() *sshhosts.Hosts                                               { return &sshhosts.Hosts{} }
func (h *house) KeeperPIDs() []int                                                  { return h.keepers }
func (*house) KeeperFor(string) (registry.Keeper, error)                            { return nil, errors.New("no keeper") }
func (*house) OnCommand(*registry.Handle, *session.Command)                         {}
func (*house) IsStopping() bool                                                     { return false }
func (*house) Approvals(string) []string                                            { return nil }
func (*house) OnRemoved(string)                                                     {}
func (*house) Notice(string, ...any)                                                {}
func (*house) PublishApproval(kind string, v *api.Approval)                         {}
func noSession(rec *store.Session) bool                                             { return false }
func onlyOwn(rec *store.Session) bool                                               { return rec.ID == ownID }
func everySession(*store.Session) bool                                              { return true }

// openHouse returns a house with the sessions that keep describes: own, other (both a user's) and ruled (with rules).
// Each has printed its name, and has a command, a job and an answered approval.
func openHouse(t *testing.T, keep func(*store.Session) bool) *house {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	dirs := paths.Dirs{State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config"), Run: filepath.Join(dir, "run")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(dirs.Make())
	st, err := store.Open(dirs.Database())
	must(err)
	t.Cleanup(func() { _ = st.Close() })
	for i, rec := range []store.Session{
		{ID: ownID, Name: "own", Labels: map[string]string{"of": "me"}}, {ID: otherID, Name: "other"}, {ID: ruledID, Name: "ruled", Policy: "careful"},
	} {
		if !keep(&rec) {
			continue
		}
		at := time.Unix(1e9+int64(i), 0)
		rec.Argv, rec.State, rec.Created, rec.Started, rec.Ended = []string{"true"}, "exited", at, at, at
		rec.Cols, rec.Rows, rec.Engine, rec.Keeper = 80, 24, session.DefaultEngine, "main"
		must(st.CreateSession(t.Context(), rec))
		j, _, err := journal.Open(filepath.Join(dirs.Session(rec.ID), "journal"), journal.Options{})
		must(err)
		must(errors.Join(j.AppendOutput([]byte("printed by "+rec.Name+"\r\n")), j.Close()))
		_, err = st.AddCommand(t.Context(), store.Command{Session: rec.ID, N: 1, Text: "make " + rec.Name, State: "done", Started: at, Ended: at})
		must(err)
		v, err := json.Marshal(map[string]any{"view": api.Approval{ID: fmt.Sprint("A", i+1), Session: rec.ID, State: "approved"}})
		must(err)
		must(st.PutApproval(t.Context(), store.Approval{N: int64(i + 1), State: "approved", Kind: "exec", Session: rec.ID, Body: v, Requested: at, Ended: at}, ""))
		must(st.AddJob(t.Context(), store.Job{ID: "job-" + rec.Name, Session: rec.ID, Kind: "line", State: "done", Request: []byte("{}"), Result: []byte("{}"), Created: at, Ended: at}))
	}
	h := &house{tokens: apitoken.Open(dirs.Tokens())}
	h.audit, err = audit.Open(audit.Options{Dir: filepath.Join(dirs.State, "audit"), Log: log})
	must(err)
	t.Cleanup(func() { _ = h.audit.Close() })
	conf := liveconfig.Open(dirs, log)
	reg := registry.New(registry.Config{Dirs: dirs, Log: log, Store: st, Settings: conf, Host: h, Known: &redact.Vault{}})
	must(reg.Load(t.Context()))
	reg.OpenIndex()
	reg.AdoptAll(t.Context(), nil, nil)
	stop := reg.Start(t.Context())
	gate, err := authorize.Open(t.Context(), authorize.Config{Store: st, Bus: h, Log: log})
	must(err)
	set := jobs.New(reg, st, conf, log, gate)
	t.Cleanup(func() {
		set.Close()
		reg.StopAll()
		stop()
	})
	h.subs = subscriptions.New(st, set, log)
	h.Server = New(h, reg, set, st, conf, log, "test", gate)
	return h
}

// searchable waits until searches find the output of a number of sessions: a request waits only briefly for the index,
// and catching up skips what is being indexed.
func (h *house) searchable(t *testing.T, sessions int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	found := 0
	for range 6000 {
		h.reg.Index.CatchUp(t.Context())
		found = 0
		for _, err := range h.reg.Index.Search(t.Context(), search.Query{Text: "printed", Limit: 50}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if found == sessions {
			return
		}
		<-look.C
	}
	t.Fatalf("%d of %d sessions are found", found, sessions)
}

// token makes a token and is its secret.
func (h *house) token(t *testing.T, tok apitoken.Token) string {
	t.Helper()
	_, secret, err := h.tokens.Make(tok)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// ask makes a request over the socket, with headers as pairs of name and value.
func (h *house) ask(t *testing.T, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	return w
}

// codeOf is the code of an answer that is an error.
func codeOf(t *testing.T, w *httptest.ResponseRecorder) api.Code {
	t.Helper()
	var e api.Error
	if w.Code < http.StatusBadRequest {
		return ""
	}
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Code == "" || e.GetStatus() != w.Code {
		t.Errorf("status %d with %q: %v", w.Code, w.Body, err)
	}
	return e.Code
}

// with is a context of a request with a token.
func with(t *testing.T, g *apitoken.Grant, a identity.Actor) context.Context {
	return identity.WithActor(context.WithValue(t.Context(), grantKey{}, g), a)
}
