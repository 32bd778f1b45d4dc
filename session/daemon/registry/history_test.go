//go:build unix

package registry

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm"
)

// histories are a registry with ended sessions of some names, oldest first.
func histories(t *testing.T, names ...string) *Registry {
	t.Helper()
	r, _ := hosted(t, func(r *Registry) {
		for i, name := range names {
			at := time.Now().Add(time.Duration(i-len(names)) * time.Hour)
			record(t, r, store.Session{ID: uuid.NewString(), Name: name, State: "exited", Created: at, Started: at, Ended: at})
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	return r
}

func namesOf(r *Registry) (list []string) {
	for _, e := range r.All() {
		list = append(list, e.Record().Name)
	}
	return list
}

// TestEdit checks that a name is changed if it is free, and labels one by one. A rejected change changes nothing.
func TestEdit(t *testing.T) {
	t.Parallel()
	r := histories(t, "one", "two") // no name is a prefix of an id
	e, err := r.Resolve("one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Resolve("two")
	if err != nil {
		t.Fatal(err)
	}
	name := func(s string) *string { return &s }
	for _, c := range []struct {
		edit   api.Edit
		code   api.Code
		name   string
		labels map[string]string
	}{
		{api.Edit{Labels: map[string]string{"x": "1", "y": "2"}}, "", "one", map[string]string{"x": "1", "y": "2"}},
		{api.Edit{Name: name("c"), Labels: map[string]string{"x": "", "z": "3"}}, "", "c", map[string]string{"y": "2", "z": "3"}},
		{api.Edit{Name: name("c")}, "", "c", map[string]string{"y": "2", "z": "3"}},
		{api.Edit{Name: name("two"), Labels: map[string]string{"q": "1"}}, api.CodeNameTaken, "c", map[string]string{"y": "2", "z": "3"}},
		{api.Edit{Name: name(two.ID())}, api.CodeNameTaken, "c", map[string]string{"y": "2", "z": "3"}}, // it would mean the other one
		{api.Edit{Name: name("a b")}, api.CodeInvalid, "c", map[string]string{"y": "2", "z": "3"}},
		{api.Edit{Name: name("d"), Labels: map[string]string{"a b": "1"}}, api.CodeInvalid, "c", map[string]string{"y": "2", "z": "3"}},
	} {
		err := r.Edit(e, c.edit)
		var refused *api.Error
		if (err != nil) != (c.code != "") || err != nil && (!errors.As(err, &refused) || refused.Code != c.code) {
			t.Errorf("%+v: %v, want %q", c.edit, err, c.code)
		}
		rec := e.Record()
		if rec.Name != c.name || len(rec.Labels) != len(c.labels) || rec.Labels["z"] != c.labels["z"] || rec.Labels["x"] != c.labels["x"] {
			t.Errorf("%+v: %s %v", c.edit, rec.Name, rec.Labels)
		}
	}
	if _, err := r.Resolve("one"); err == nil {
		t.Error("the old name is still in use")
	}
	stored, err := r.store.Sessions(t.Context())
	if err != nil || !slices.ContainsFunc(stored, func(s store.Session) bool { return s.Name == "c" && s.Labels["z"] == "3" }) {
		t.Errorf("%+v, %v", stored, err)
	}
}

// TestNameThatIsAnothersID checks that a session named like another one's id would be unreachable: the lookup finds the
// name first.
//
// FEATURES: R85
func TestNameThatIsAnothersID(t *testing.T) {
	t.Parallel()
	r := histories(t, "one")
	one, err := r.Resolve("one")
	if err != nil {
		t.Fatal(err)
	}
	var refused *api.Error
	err = r.add(NewHandle(store.Session{ID: uuid.NewString(), Name: one.ID()}))
	if !errors.As(err, &refused) || refused.Code != api.CodeNameTaken {
		t.Errorf("%v", err)
	}
}

// TestRemove checks that a removed session leaves memory, disk and database, and the removal is published.
func TestRemove(t *testing.T) {
	t.Parallel()
	r := histories(t, "a", "b")
	l := r.Bus.Listen()
	e, err := r.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), e, false); err != nil {
		t.Fatal(err)
	}
	if got := namesOf(r); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v", got)
	}
	if _, err := os.Stat(r.dirs.Session(e.ID())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
	if list, err := r.store.Sessions(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d records, %v", len(list), err)
	}
	if event := <-l.C; event.Kind != "removed" || event.Session.Name != "a" {
		t.Errorf("%+v", event)
	}
	if !r.removedAny.Load() {
		t.Error("the database's log is not to be emptied")
	}
	r.Maintenance.truncateLog(t.Context())
	if r.removedAny.Load() {
		t.Error("the database's log was not emptied")
	}
	r.RemoveEnded(e) // a second time does nothing
}

// TestRemoveWithoutAStore checks that if the store fails the session is removed anyway, and stays so; its record is
// removed later.
func TestRemoveWithoutAStore(t *testing.T) {
	t.Parallel()
	r := histories(t, "a")
	e, err := r.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), e, false); err != nil {
		t.Errorf("%v", err)
	}
	if len(r.All()) != 0 || !r.undeleted.has(e.ID()) {
		t.Error("it is still there")
	}
}

// TestTidy checks that ended sessions over the budget go, the oldest first; without a budget nothing does.
func TestTidy(t *testing.T) {
	t.Parallel()
	r := histories(t, "oldest", "older", "newest")
	p, err := r.Maintenance.Prune(t.Context(), time.Now(), Budget{})
	if err != nil || len(p.Removed) != 0 || len(p.Cut) != 0 {
		t.Errorf("without a budget: %+v, %v", p, err)
	}
	if p, err = r.Maintenance.Prune(t.Context(), time.Now(), Budget{Dead: 2}); err != nil || !slices.Equal(p.Removed, []string{"oldest"}) || p.Bytes <= 0 {
		t.Errorf("two ended sessions: %+v, %v", p, err)
	}
	if p, err = r.Maintenance.Prune(t.Context(), time.Now(), Budget{DeadAge: 90 * time.Minute}); err != nil || !slices.Equal(p.Removed, []string{"older"}) {
		t.Errorf("ended for 90 minutes: %+v, %v", p, err)
	}
	if got := namesOf(r); !slices.Equal(got, []string{"newest"}) {
		t.Errorf("%v", got)
	}
	e := r.All()[0]
	if err := os.RemoveAll(r.dirs.Session(e.ID())); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Maintenance.Prune(t.Context(), time.Now(), Budget{Dead: 5}); err != nil && !strings.Contains(err.Error(), e.ID()) {
		t.Errorf("a session without its directory: %v", err)
	}
}

// TestRestoreThatFails checks that a failed restore leaves the session readable, as it was.
func TestRestoreThatFails(t *testing.T) {
	t.Parallel()
	r := histories(t, "a")
	e, err := r.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]Host{"no keeper": &host{}, "a keeper that dies": &hostWith{&host{}, &deadKeeper{}}} {
		r.host = h
		_, err := r.Restore(t.Context(), e, api.Restore{Command: true})
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Code != api.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
		if e, err = r.Resolve("a"); err != nil {
			t.Fatal(err)
		}
		if view := r.Describe(e, e.Session.Status()); view.State != "exited" || view.Output.End == 0 {
			t.Errorf("%s: %+v", name, view)
		}
	}
}

// TestNoticesForARestoredProcess checks that a process that exits before its handle replaces the old one has ended
// nevertheless.
func TestNoticesForARestoredProcess(t *testing.T) {
	t.Parallel()
	r := histories(t, "a")
	old, err := r.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	var told *session.Session
	notice := func(s *session.Session) { told = s }
	if old.Notify(notice); told != old.Session {
		t.Error("the old session is not notified")
	}
	told = nil
	e := NewHandle(old.Record())
	old.redirectTo(e)
	if old.Notify(notice); told != nil {
		t.Error("the exit is published before the new session is registered")
	}
	if e.begin(old.Session, nil); told != old.Session {
		t.Error("the notice is lost")
	}
}

// TestSecretsAreForgotten checks that the values of secrets are kept as long as a rule refers to them, or is about to.
func TestSecretsAreForgotten(t *testing.T) {
	t.Parallel()
	e := NewHandle(store.Session{ID: "x"})
	rule := func(ref string) []respond.Rule {
		return []respond.Rule{{Reply: []respond.Reply{{Kind: respond.ReplySecret, Value: ref}, {Kind: respond.ReplyText, Value: "env:NOT"}}}}
	}
	for ref, ok := range map[string]bool{"env:A": true, "env:B": false, "file:/a": true, "file:~/a": true, "file:a": false} {
		if err := e.takeSecrets(rule(ref), map[string]string{"env:A": "1"}); (err == nil) != ok {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if err := e.takeSecrets(rule("env:A"), nil); err != nil {
		t.Errorf("a known one: %v", err)
	}
	e.secrets.hold()
	e.secrets.retain(nil)
	if v, ok := e.secrets.get("env:A"); !ok || v != "1" {
		t.Error("a value is forgotten before its rule is attached")
	}
	e.secrets.release()
	e.secrets.retain(map[string]bool{"env:A": true})
	if _, ok := e.secrets.get("env:A"); !ok {
		t.Error("a value is forgotten that a rule refers to")
	}
	e.secrets.retain(nil)
	if _, ok := e.secrets.get("env:A"); ok {
		t.Error("a value without a reference is kept")
	}
}

// TestTurnsOfUnintegratedPrograms checks that lines for a silent program run one after the other: a call without
// waiting is rejected after a while, and one that waits does so as long as its caller is connected.
//
// FEATURES: R16
func TestTurnsOfUnintegratedPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u Unintegrated
		ctx := context.Background()
		if err := u.AcquireTurn(ctx, false); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var e *api.Error
		if err := u.AcquireTurn(ctx, false); !errors.As(err, &e) || e.Code != api.CodeBusy || time.Since(began) != ReadyTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		short, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		if err := u.AcquireTurn(short, true); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		taken := make(chan error)
		go func() { taken <- u.AcquireTurn(ctx, true) }()
		synctest.Wait()
		u.ReleaseTurn()
		if err := <-taken; err != nil {
			t.Error(err)
		}
		u.ReleaseTurn()
	})
	var u Unintegrated
	u.NoteLine("cd /tmp")
	if g := u.Guess(); g.Cwd != "/tmp" {
		t.Errorf("%+v", g)
	}
}

// TestSinceRestored checks that of a restored session's screen only the part below the dividing line belongs to the
// running program.
//
// FEATURES: R100 R104
func TestSinceRestored(t *testing.T) {
	t.Parallel()
	line := "── restored 2026-01-02 03:04:05 ──"
	if !strings.Contains(string(appendDivider(nil)), restoredMark) || len(line) != len(restoredMark)+len(time.DateTime)+len(restoredEnd) {
		t.Fatalf("the line is %q", appendDivider(nil))
	}
	for name, c := range map[string]struct{ rows, want []string }{
		"never restored": {[]string{"❯ ", "text"}, []string{"❯ ", "text"}},
		"just restored":  {[]string{"❯ ", line, ""}, []string{"", "", ""}},
		"it has drawn":   {[]string{"old ❯", line, "new ❯"}, []string{"", "", "new ❯"}},
		"twice":          {[]string{"a", line, "b", line, "c"}, []string{"", "", "", "", "c"}},
		"a text like it": {[]string{"❯ ", "── restored yesterday ──"}, []string{"❯ ", "── restored yesterday ──"}},
	} {
		if got := rowsAfterDivider(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDividingLineIsBelowThePicture checks that the dividing line is below all earlier content, also if the cursor was
// left in the middle of an image.
//
// FEATURES: R100 R104
func TestDividingLineIsBelowThePicture(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"a prompt":                 "done\r\n$ ",
		"nothing":                  "",
		"in the middle":            "one\r\n> Type your message\r\n▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\r\nbelow\x1b[2;3H",
		"at the beginning of rows": "one\r\ntwo\x1b[1;1H",
		"a full screen":            "1\r\n2\r\n3\r\n4\r\n5\r\n> Type\x1b[2;1H",
	} {
		term := vterm.New(vterm.Options{Cols: 40, Rows: 6})
		_, _ = term.Write([]byte(left))
		var f vterm.Frame
		term.Frame(&f, vterm.Query{Screen: vterm.ScreenPrimary})
		_, _ = term.Write(appendDivider(appendBelow(nil, &f)))
		_, _ = term.Write([]byte("new"))
		term.Frame(&f, vterm.Query{Screen: vterm.ScreenPrimary})
		if got := strings.Join(slices.DeleteFunc(rowsAfterDivider(rowsOf(&f)), func(row string) bool { return row == "" }), "|"); got != "new" {
			t.Errorf("%s: of the new program is %q in %q", name, got, rowsOf(&f))
		}
	}
}
