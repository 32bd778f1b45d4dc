package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// fakeDrafts holds the draft of a session, and records the operations on it.
type fakeDrafts struct {
	mu    sync.Mutex
	draft model.Draft
	diff  string
	fails error // of changes to it
	calls []string
}

func (f *fakeDrafts) Changes(context.Context, string) (model.Draft, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.draft.Changes) == 0 {
		return model.Draft{}, errors.New("no draft of session")
	}
	d := f.draft
	d.Changes = slices.Clone(d.Changes)
	return d, nil
}

func (f *fakeDrafts) Diff(_ context.Context, id, path string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "diff "+id+" "+path)
	return f.diff, nil
}

func (f *fakeDrafts) remove(call string, paths []string) (model.DraftResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, strings.TrimSpace(call+" "+strings.Join(paths, " ")))
	if f.fails != nil {
		return model.DraftResult{}, f.fails
	}
	before := len(f.draft.Changes)
	f.draft.Changes = slices.DeleteFunc(slices.Clone(f.draft.Changes), func(c model.DraftChange) bool { return len(paths) == 0 || slices.Contains(paths, c.Path) })
	return model.DraftResult{Changes: before - len(f.draft.Changes), Empty: len(f.draft.Changes) == 0}, nil
}

func (f *fakeDrafts) Commit(_ context.Context, id, expect string, paths []string) (model.DraftResult, error) {
	return f.remove("commit "+id+" "+expect, paths)
}

func (f *fakeDrafts) Discard(_ context.Context, id string, paths []string) (model.DraftResult, error) {
	return f.remove("discard "+id, paths)
}

func someChanges() model.Draft {
	return model.Draft{ID: "5b1f", Roots: []string{"/home/ann/src/web"}, Changes: []model.DraftChange{
		{Path: "/home/ann/src/web/dist", Name: "dist/", Kind: "added"},
		{Path: "/home/ann/src/web/dist/app.js", Name: "dist/app.js", Kind: "added", Size: "1.8 MB"},
		{Path: "/home/ann/src/web/main.go", Name: "main.go", Kind: "modified", Size: "1.8 kB"},
		{Path: "/home/ann/src/web/old.txt", Name: "old.txt", Kind: "deleted", Size: "12 bytes", Conflict: "changed outside"},
	}}
}

const someDiff = "diff --git a/main.go b/main.go\n--- a/main.go\n+++ b/main.go\n@@ -1,3 +1,4 @@\n package main\n-\told()\n+\tnew()\n+\tmore()\n }\n"

func drafting(state string) model.Session {
	s := running("a")
	s.State, s.Draft = state, "draft(4)"
	return s
}

// TestChanges_ListsAndDiffs checks that the list shows each change with its kind and size, and the diff of one.
//
// FEATURES: R124
func TestChanges_ListsAndDiffs(t *testing.T) {
	f := &fakeDrafts{draft: someChanges(), diff: someDiff}
	b := newBench(t, 100, 30, Options{Drafts: f})
	b.list(drafting(model.StateRunning))
	b.shows("draft(4)")
	b.keys("^V")
	b.shows("Changes of a", "loading…")
	b.call()
	b.shows("+ dist/ ", "+ dist/app.js", "1.8 MB  added", "~ main.go", "1.8 kB  modified", "! old.txt", "Enter shows the diff", "Ctrl-S commit", "Ctrl-X discard all")
	b.keys("main")
	enter(b)
	b.call()
	b.shows("main.go  +2 -1 lines", "@ @@ -1,3 +1,4 @@", "-     old()", "+     new()", "package main", "Enter goes back")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.shows("~ main.go")

	// Operations that need an ended session are not offered while it runs.
	for _, key := range "sdax" {
		b.ctrl(key)
		b.shows("end the session first: Ctrl-Space x; Ctrl-Space R starts it again in its draft")
		b.message = ""
	}
	if got, want := fmt.Sprint(f.calls), "[diff a /home/ann/src/web/main.go]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	if b.overlay != nil {
		t.Error("the list is still open")
	}
}

// TestChanges_CommitsAndDiscards checks that one change or all are committed or discarded, each after a confirmation.
// The list has the rest.
//
// FEATURES: R124
func TestChanges_CommitsAndDiscards(t *testing.T) {
	f := &fakeDrafts{draft: someChanges()}
	b := newBench(t, 100, 30, Options{Drafts: f})
	b.list(drafting(model.StateRunning))
	b.list(drafting("exited"))
	b.keys("^V")
	b.call()
	b.down(2)
	b.ctrl('s')
	b.shows("commit main.go? y/n", "~ main.go")
	b.keys("n")
	b.shows("~ main.go")
	b.ctrl('s')
	b.keys("y")
	b.call()
	b.call()
	b.shows("1 change committed", "! old.txt", "conflict: changed outside")
	f.fails = errors.New("nothing committed: \"old.txt\" changed outside")
	b.ctrl('a')
	b.shows("commit 3 changes in /home/ann/src/web? y/n")
	b.keys("y")
	b.call()
	b.call()
	b.shows("nothing committed: \"old.txt\" changed outside", "! old.txt")
	f.fails = nil
	b.ctrl('d')
	b.shows("discard the change of old.txt? y/n")
	b.keys("y")
	b.call()
	b.call()
	b.shows("1 change discarded", "+ dist/app.js")
	b.ctrl('x')
	b.shows("discard 2 changes in /home/ann/src/web? y/n")
	b.keys("y")
	b.call()
	b.shows("2 changes discarded")
	if b.overlay != nil {
		t.Error("the list is still open")
	}
	want := "[commit a 5b1f /home/ann/src/web/main.go commit a 5b1f discard a /home/ann/src/web/old.txt discard a]"
	if got := fmt.Sprint(f.calls); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestChanges_FollowsTheDraft checks that nothing is changed in a read-only viewer, that sessions without a draft have
// no list, and that the list follows the draft.
//
// FEATURES: R124
func TestChanges_FollowsTheDraft(t *testing.T) {
	f := &fakeDrafts{draft: someChanges()}
	b := newBench(t, 100, 30, Options{Drafts: f})
	b.list(running("a"))
	b.keys("^V")
	b.shows("a has no draft of file changes")
	b.list(drafting("exited"))
	b.keys("^e^V")
	b.call()
	b.ctrl('x')
	b.shows("read-only: nothing is changed")
	f.draft.Changes = f.draft.Changes[2:]
	s := drafting("exited")
	s.Draft = "draft(2)"
	b.list(s)
	b.tick()
	b.call()
	if text := b.term.Text(); strings.Contains(text, "dist/app.js") || !strings.Contains(text, "main.go") {
		t.Errorf("%s", text)
	}
	b.overlay, b.o.Drafts = nil, nil
	b.keys("^V")
	b.shows("changes unavailable")
}

// TestDiffItems checks that a long diff has its first lines, and the command that shows all. Lines of a removed file
// that look like headers count as lines.
//
// FEATURES: R124
func TestDiffItems(t *testing.T) {
	items, added, removed := diffItems(theme.Dark, someDiff+strings.Repeat("+x\n", maxDiffLines), "longterm diff a main.go")
	if len(items) != maxDiffLines+1 || added != maxDiffLines+2 || removed != 1 || !strings.Contains(items[maxDiffLines].Text, "longterm diff a main.go") {
		t.Errorf("%d items, %d added, %d removed", len(items), added, removed)
	}
	_, added, removed = diffItems(theme.Dark, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n", "")
	if added != 1 || removed != 1 {
		t.Errorf("%d added, %d removed", added, removed)
	}
}
