//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// toldNow returns the kinds of the received events, with the prompt of each.
func toldNow(l *events.Listener) (told []string) {
	for len(l.C) > 0 {
		e := <-l.C
		asks := "nothing"
		if e.Session.Needs != nil {
			asks = string(e.Session.Needs.Kind)
		}
		told = append(told, e.Kind+": "+asks)
	}
	return told
}

// TestRepeatedPrompt_PublishedOnlyIfCleared checks that a repeated prompt is published only to listeners that got an
// event in between without the prompt.
func TestRepeatedPrompt_PublishedOnlyIfCleared(t *testing.T) {
	t.Parallel()
	r, _ := hosted(t, nil)
	e, _ := printing(t)
	defer e.Session.Stop()
	l := r.Bus.Listen()
	defer r.Bus.Unsubscribe(l)
	nothing := session.Status{State: session.Running}
	text := nothing
	text.Needs = session.InputNeed{Kind: inputdetect.Text, Since: time.Now()}
	prompt := nothing
	prompt.Shell = session.ShellStatus{Phase: shell.PhasePrompt}
	for _, c := range []struct {
		name string
		st   session.Status
		c    session.Change
		told []string
	}{
		{"it asks", text, session.ChangeInput, []string{"input: text"}},
		{"again, and nobody heard of anything", text, session.ChangeInputKept, nil},
		{"a title while it is not known", nothing, session.ChangeTitle, []string{"title: nothing"}},
		{"again", text, session.ChangeInputKept, []string{"input: text"}},
		{"once more", text, session.ChangeInputKept, nil},
		{"at a prompt", prompt, session.ChangeShell, []string{"shell: nothing"}},
		{"at the same prompt", prompt, session.ChangeInputKept, nil},
	} {
		r.onChange(e, c.st, c.c)
		if told := toldNow(l); !slices.Equal(told, c.told) {
			t.Errorf("%s: published %q, want %q", c.name, told, c.told)
		}
	}
}

// TestStatusEvents_InOrder checks that the last published event is the newest: nothing else publishes a session between
// its description and its publication.
func TestStatusEvents_InOrder(t *testing.T) {
	t.Parallel()
	r, _ := hosted(t, nil)
	e, _ := printing(t)
	defer e.Session.Stop()
	r.publishStatus(e, "shell", func() session.Status {
		if e.publishing.TryLock() {
			e.publishing.Unlock()
			t.Error("another caller can publish an earlier description")
		}
		return e.Session.Status()
	})
}

// TestProgramEndsBeforeItsSessionIsThere checks that a program that exits before its session is registered, as its
// keeper reports it, has ended: no caller keeps waiting for its end.
//
// FEATURES: R82
func TestProgramEndsBeforeItsSessionIsThere(t *testing.T) {
	t.Parallel()
	r, _ := hosted(t, nil)
	rec := store.Session{ID: "3f1f0c9e-6a0a-4a4e-9a55-0c1b7a1f2d10", Name: "over", State: "running", Argv: []string{"true"}, Created: time.Now(), Started: time.Now()}
	record(t, r, rec)
	rec.Cols, rec.Rows, rec.Engine, rec.Keeper = 80, 24, session.DefaultEngine, "main"
	e := NewHandle(rec)
	l := r.Bus.Listen()
	defer r.Bus.Unsubscribe(l)
	e.Notify(func(s *session.Session) {
		s.Exited(session.Exit{Time: time.Now()}, s.Status().Offset)
		s.Closed()
		for ev := range l.C {
			if ev.Kind == "state" {
				return // a caller that starts to wait for the end from here on waits forever
			}
		}
	})
	dev := &device{id: rec.ID, keeper: &deadKeeper{}, log: r.log, pipe: true}
	start, err := r.newOwner(e, dev, nil, r.openJournal(rec.ID))
	if err != nil {
		t.Fatal(err)
	}
	start()
	r.watchers.group.Wait()
	if a := e.Activity(Newest); a == nil || a.Running {
		t.Errorf("%+v", a)
	}
	e.Session.Stop()
}

// TestStoredPrompt_HasNoSecrets checks that the stored prompt, for hooks and later queries, has no secrets.
//
// FEATURES: R110
func TestStoredPrompt_HasNoSecrets(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	known, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known.Learn("hunter22")
	r.known = known
	e := NewHandle(store.Session{ID: "1", Name: "one", State: "running"})
	// without a listener nothing is stored
	if _, err := r.store.Subscribe(t.Context(), store.Subscription{Name: "hook"}); err != nil {
		t.Fatal(err)
	}
	r.recordNeedsInput(e, &session.Status{Needs: session.InputNeed{Kind: inputdetect.Confirm, Reason: `the text offers yes or no: "Keep hunter22? [y/N]"`, Since: time.Now()}})
	r.writes.Wait()
	kept, _, _, err := r.store.Completions(t.Context(), &store.Subscription{}, 0, 10)
	if err != nil || len(kept) != 1 || kept[0].Text != `the text offers yes or no: "Keep ********? [y/N]"` {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestRecordOfExecutionsGoesWithItsProgram checks that the record of executions of a session's earlier program does not
// apply to a restart without judgement.
//
// FEATURES: R107
func TestRecordOfExecutionsGoesWithItsProgram(t *testing.T) {
	t.Parallel()
	r, _ := hosted(t, nil)
	e := NewHandle(store.Session{ID: "3f1f0c9e-6a0a-4a4e-9a55-0c1b7a1f2d11"})
	path := r.executionsPath(e)
	for _, again := range []bool{false, true} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
		r.recordChecked(e, "", again)
		if _, err := os.Stat(path); (err != nil) != again {
			t.Errorf("again %t: %v", again, err)
		}
	}
}
