//go:build unix

package viewsource

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
)

// TestViewSessionActivity checks that the progress that a build prints reaches the viewer.
//
// FEATURES: R76, R82
func TestViewSessionActivity(t *testing.T) {
	eta, due := int64(90_000), time.Now().Add(90*time.Second)
	vs := viewSession(&api.Session{ID: "a", State: "running", Progress: &api.Progress{State: "normal", Percent: 42}, Activity: &api.Activity{
		Running: true, Errors: 2, Warnings: 3, ETAMS: &eta, Due: &due, FirstError: &api.Problem{File: "a.c", Line: 7, Message: "no such thing"},
	}})
	left := time.Until(vs.Due)
	if vs.Errors != 2 || vs.Warnings != 3 || vs.FirstError != "a.c:7: no such thing" || vs.Progress.Percent != 42 || left > 90*time.Second || left < time.Minute {
		t.Errorf("%+v", vs)
	}
}

// FEATURES: R124
func TestViewSession_MarksDraft(t *testing.T) {
	if vs := viewSession(&api.Session{ID: "a", State: "running", Draft: &api.DraftSummary{State: "open", Changes: new(3)}}); vs.Draft != "draft(3)" {
		t.Errorf("%q", vs.Draft)
	}
}

// TestViewSessionKeepsItsTimes checks that a repeated description has the same times: clocks do not jump back.
//
// FAULT: B19
func TestViewSessionKeepsItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, due, ended := time.Now().Add(-time.Hour), time.Now().Add(time.Minute), time.Now()
		running := api.Session{ID: "a", State: "running", Started: began, Duration: time.Hour.Milliseconds(), Activity: &api.Activity{Running: true, Due: &due}}
		over := api.Session{ID: "b", State: "exited", Started: began, Ended: &ended, Duration: time.Hour.Milliseconds()}
		for range 2 {
			if vs := viewSession(&running); !vs.Started.Equal(began) || !vs.Due.Equal(due) {
				t.Errorf("started %v, due %v; was %v, %v", vs.Started, vs.Due, began, due)
			}
			if vs := viewSession(&over); !vs.Started.Equal(began) || !vs.Ended.Equal(ended) {
				t.Errorf("started %v, ended %v", vs.Started, vs.Ended)
			}
			time.Sleep(10 * time.Second) // of synctest
		}
	})
}

// TestViewFeedHidesItsOwn checks that a session of the viewer's own prompt gets no pane until it needs input.
func TestViewFeedHidesItsOwn(t *testing.T) {
	src := source{mark: "mine", options: &Options{}}
	f := &feed{v: src, out: make(chan model.Update, 1), bells: map[string]int{}, exits: map[string]*int{}}
	own := api.Session{ID: "own", State: "running", Labels: map[string]string{markLabel: "mine"}}
	other := api.Session{ID: "other", State: "running", Labels: map[string]string{markLabel: "another's"}}
	for _, c := range []struct {
		needs *api.InputRequest
		want  int
	}{{nil, 1}, {&api.InputRequest{Kind: "password"}, 2}} {
		own.Needs = c.needs
		f.all = []api.Session{other, own}
		if err := f.event(context.Background(), api.Event{Kind: "input", Session: &own}); err != nil {
			t.Fatal(err)
		}
		if u := <-f.out; len(u.Sessions) != c.want {
			t.Errorf("needs %v: %d sessions", c.needs, len(u.Sessions))
		}
	}
}

// TestNameOfThePast checks that a session name of the maximum length gives no name for its time travel.
//
// FEATURES: R117
func TestNameOfThePast(t *testing.T) {
	for n, want := range map[int]int{1: 6, maxName - 5: maxName, maxName - 4: 0, maxName: 0} {
		if got := playbackName(strings.Repeat("n", n)); len(got) != want {
			t.Errorf("of %d bytes: %q", n, got)
		}
	}
}

// TestDirectoryOfANewSession checks that a directory is resolved as a user writes it: from home, from the session
// beside it, or from the root. A missing one is reported before any start; for another host only that host knows.
//
// FEATURES: R119
func TestDirectoryOfANewSession(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.MkdirAll(filepath.Join(home, "src", "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, dir, want, err string
	}{
		{dir: "lib", want: home + "/src/lib"}, {dir: "../src/", want: home + "/src"}, {dir: "~", want: home}, {dir: "~/src/lib", want: home + "/src/lib"}, {dir: "/", want: "/"},
		{dir: "nothing", err: home + "/src/nothing: directory not found"}, {dir: "~nobody/x", err: "directory not found"},
		{at: "far", dir: "lib", want: "/there/lib"}, {at: "far", dir: "/srv", want: "/srv"}, {at: "far", dir: "~/x", err: "use an absolute path"},
	} {
		n := api.NewSession{Cwd: home + "/src"}
		if c.at != "" {
			n.GivenCwd = "/there"
		}
		err := source{host: c.at}.setStartDir(&n, c.dir)
		got := n.Cwd
		if c.at != "" {
			got = n.GivenCwd
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: %v, want %s", c.at, c.dir, err, c.err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.at, c.dir, got, err, c.want)
		}
	}
}
