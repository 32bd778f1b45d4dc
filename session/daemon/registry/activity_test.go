//go:build unix

package registry

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// FEATURES: R82
func TestWork(t *testing.T) {
	t.Parallel()
	var w activity
	if w.view(Newest) != nil {
		t.Error("an unknown task has an estimate")
	}
	ends := w.start(1)
	now := time.Now()
	w.set(1, progress.State{Errors: 2, ETA: time.Hour, HasETA: true, Progress: progress.Progress{Kind: progress.Normal, Fraction: 0.457, Current: 3, Total: 7}}, now.Add(-time.Minute), true, 0)
	a := w.view(1)
	if a == nil || !a.Running || a.Errors != 2 || a.Progress.Percent != 45 || a.Progress.Total != 7 {
		t.Fatalf("%+v", a)
	}
	if a.ETAMS == nil || *a.ETAMS > (59*time.Minute).Milliseconds() || a.ElapsedMS < time.Minute.Milliseconds() {
		t.Errorf("time does not pass: %+v", a)
	}
	w.end(1, outcome{to: 9})
	if how := <-ends; how.to != 9 {
		t.Errorf("%+v", how)
	}
	second := w.start(2)
	if w.view(Newest) != nil {
		t.Error("the new command inherits from the old one")
	}
	w.set(2, progress.State{}, now, true, 0)
	w.set(1, progress.State{Errors: 9}, now, false, 0) // read late
	if a := w.view(Newest); a.N != 2 || a.Errors != 0 || w.view(1) != nil {
		t.Errorf("%+v", a)
	}
	third := w.start(3)
	if _, ok := <-second; ok {
		t.Error("the second command's follower is not notified that another one runs")
	}
	w.end(2, outcome{}) // the listener has left
	w.end(3, outcome{to: 1})
	if how := <-third; how.to != 1 {
		t.Errorf("%+v", how)
	}
	if w.start(3) != nil {
		t.Error("an ended command starts")
	}
}

// TestNoEstimateForWhatAPersonWorksWith checks that the duration of an earlier editor or prompting program predicts
// nothing; printed progress does.
//
// FEATURES: R82
func TestNoEstimateForWhatAPersonWorksWith(t *testing.T) {
	t.Parallel()
	var w activity
	past := progress.State{ETA: time.Hour, HasETA: true}
	bar := past
	bar.Progress = progress.Progress{Kind: progress.Normal, Fraction: 0.5}
	estimates := func(when string, want bool) {
		t.Helper()
		if a := w.view(Newest); a == nil || a.ETAMS != nil != want || a.Due != nil != want {
			t.Errorf("%s: %+v", when, a)
		}
	}
	w.start(1)
	w.setInteractive() // before it is known otherwise
	w.set(1, past, time.Now(), true, 0)
	estimates("an editor", false)
	w.set(1, bar, time.Now(), true, 0)
	estimates("it shows progress", true)
	w.set(1, past, time.Now(), false, 0)
	w.setInteractive() // the terminal is as the editor left it
	w.start(2)
	w.set(2, past, time.Now(), true, 0)
	estimates("the next command", true)
	w.setInteractive()
	estimates("it asks", false)
}

// FEATURES: R82
func TestFollowerNotifies(t *testing.T) {
	t.Parallel()
	told := make(chan notify.FinishedEvent, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var f notify.FinishedEvent
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
			t.Error(err)
		}
		told <- f
	}))
	defer hook.Close()
	h := &Registry{log: slog.New(slog.DiscardHandler), conf: settingsOf(t, "[alerts]\nmin_duration = \"1s\"\nunattended_only = true\n[notify]\ndesktop = true\nwebhook = \""+hook.URL+"\"\n")}
	e := NewHandle(store.Session{ID: "1", Name: "b"})
	news, leave := h.Terminals.Join()
	defer leave()
	begun := time.Now()
	f := &watcher{reg: h, e: e, task: task{n: 4, command: "make", began: begun}}
	one := 1
	f.notify(t.Context(), &progress.State{Errors: 3, First: &progress.Problem{Message: "bad"}}, &outcome{at: begun.Add(2 * time.Second), exit: &one})
	if got := <-told; got.Name != "b" || got.Number != 4 || got.Errors != 3 || *got.ExitCode != 1 || got.DurationMS != 2000 || got.FirstError != "bad" || got.Attended {
		t.Errorf("%+v", got)
	}
	if b := <-news; string(b) != "\x1b]9;✗ 1: make (2s), 3 errors\x1b\\\a" {
		t.Errorf("attached terminals get %q", b)
	}
	f.notify(t.Context(), &progress.State{}, &outcome{at: begun.Add(time.Millisecond), exit: &one})
	e.Clients.Join(&sizepolicy.Client{Cols: 80, Rows: 24})
	f.notify(t.Context(), &progress.State{}, &outcome{at: begun.Add(time.Hour), exit: &one})
	if len(told) > 0 || len(news) > 0 {
		t.Error("a notice of a short command, or of one that is shown to the user")
	}
}

// settingsOf are a configuration file's.
func settingsOf(t *testing.T, file string) *liveconfig.Settings {
	t.Helper()
	dir := t.TempDir()
	dirs := paths.Dirs{State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config")}
	if err := config.WriteFile(dirs.ConfigFile(), []byte(file)); err != nil {
		t.Fatal(err)
	}
	return liveconfig.Open(dirs, slog.New(slog.DiscardHandler))
}
