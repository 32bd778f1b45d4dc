//go:build unix

package main

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
	"github.com/longterm-dev/longterm/session/config"
)

// A person at the viewer's prompt line.
//
// FEATURES: R77, R80, R81
func TestViewerPrompt(t *testing.T) {
	i := newInstance(t)
	o := newViewer(t, i, 100, 30)
	o.shows("1 bash", "idle")

	// In the focused shell, at its prompt: directory and variables live on.
	o.after("!")
	o.shows("[SHELL] $ a command; it runs in the shell of bash")
	o.line("WHERE=here; false")
	o.shows("$ WHERE=here; false", "✗ exit 1", "it runs in the shell of bash")
	o.line("echo $WHERE is $((20+3))")
	o.shows("here is 23\n✓ ", "it runs in the shell of bash") // which the viewer hears apart

	// While one runs another can be run, in a shell of its own; Ctrl-C ends the newest.
	o.line("read x; echo got $x")
	o.shows("Ctrl-C: end the command", "in a shell of its own")
	o.line("echo own$((4+4)); sleep 1000")
	o.shows("own8")
	o.keys("C-c")
	o.shows("✗ ended")
	if out := i.run("ls"); strings.Contains(out, "sleep") {
		t.Errorf("what was ended is still there:\n%s", out)
	}

	// What a command waits for is typed into its session, as a plain line.
	o.keys("Escape")
	o.shows("> a line; it is typed into bash, with Enter")
	o.line("the answer")
	o.shows("got the answer\n✓ ")

	// A large paste is a placeholder, and arrives whole.
	var pasted strings.Builder
	pasted.WriteString("cat <<'END' | sort -n | tail -1\n")
	for n := range 50 {
		pasted.WriteString(strings.Repeat("1", 1+n%7) + "\n")
	}
	pasted.WriteString("END\n")
	file := filepath.Join(i.dir, "paste")
	if err := os.WriteFile(file, []byte(pasted.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o.keys("!")
	o.shows("it runs in the shell of bash")
	o.cmd("load-buffer", file)
	o.cmd("paste-buffer", "-p")
	o.shows("[pasted text #1 +52 lines]")
	o.keys("Enter")
	o.shows("1111111\n✓ ")

	// The history is the directory's, and comes back.
	o.keys("C-d")
	o.lacks("[SHELL]")
	o.after("q")
	o.shows("STATUS=0")
	o.cmd("new-window", "-n", "again", filepath.Join(i.dir, "longterm"))
	o.shows("1 bash")
	o.after(`\;`)
	o.shows("to bash")
	o.keys("C-r", "WHERE is")
	o.shows("echo $WHERE is $((20+3))")
	o.keys("Enter")
	o.shows("here is 23\n✓ ")
	o.keys("C-l", "Escape")
	o.shows("to bash")

	// Slash commands.
	for _, c := range []struct{ line, shows string }{
		{"/version", "longterm " + strings.TrimSpace(strings.Fields(i.run("version"))[1])}, {"/sessions", "▸ bash"}, {"/mcp", "MCP yet"},
		{"/theme light", "theme: light"}, {"/theme nothing", "no theme is called nothing"}, {"/layout", "no layout was saved"}, {"/help", "/theme [NAME]"},
	} {
		o.line(c.line)
		o.shows(c.shows)
	}
	o.keys("C-l")
	o.lacks("/theme")

	// The configuration: what is wrong is told, what is right is taken.
	conf := filepath.Join(i.dir, "config.toml")
	if err := os.WriteFile(conf, []byte("[keys]\nzom = \"Z\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.line("/reload")
	o.shows(`config.toml:2:1: keys.zom: the viewer has no such action`) // the path before it may take a row
	if err := os.WriteFile(conf, []byte("[view]\nprefix = \"C-b\"\ntheme = \"night\"\n[keys]\nprompt = \"F5\"\n[themes.night]\nbar = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.line("/reload")
	o.shows("✓ the configuration is in effect", "Ctrl-b: commands")
	o.line("/theme")
	o.shows("theme: night")
	o.keys("C-d")
	o.lacks("to bash")
	o.keys("C-b", "F5")
	o.shows("to bash")

	// A terminal of 40×10.
	o.cmd("resize-window", "-x", "40", "-y", "10")
	o.keys("!")
	o.line("seq 1 30")
	o.shows("30\n✓ ", "1 bash", "[SHELL] $")
	o.keys("C-d", "C-b", "q")
}

// FEATURES: R76
func TestWishes(t *testing.T) {
	s := config.Default()
	w := &wishes{}
	l, err := w.looks(s)
	if err != nil || l.Theme != nil || l.NoHints || l.NoMouse || l.Alerts.NoInput || l.Alerts.Long != 10*time.Second || w.layout(s) != "" {
		t.Errorf("defaults: %+v %v", l, err)
	}
	s.View = config.View{Prefix: "C-a", Theme: "night", Layout: "work", Size: "largest"}
	s.Keys["zoom"] = "Z F3"
	s.Themes["night"] = map[string]string{"bar": "red"}
	s.Alerts = config.Alerts{Command: true}
	l, err = w.looks(s)
	if err != nil || l.Theme.Name != "night" || l.Prefix.Code != 'a' || !l.NoHints || !l.NoMouse || !l.Alerts.NoBell || !l.Alerts.NoInput || l.Alerts.NoCommand || len(l.Keys["zoom"]) != 2 || w.layout(s) != "work" {
		t.Errorf("configured: %+v %v", l, err)
	}
	w.flags = viewFlags{theme: "light", prefix: "F12", layout: "last"}
	if l, err = w.looks(s); err != nil || l.Theme.Name != "light" || w.layout(s) != "" {
		t.Errorf("flags: %+v %v", l, err)
	}
	for _, f := range []viewFlags{{theme: "none"}, {prefix: "Nokey-x"}} {
		if _, err := (&wishes{flags: f}).looks(s); err == nil {
			t.Errorf("%+v is taken", f)
		}
	}
	size := newSizeWish("largest")
	if size.first("a") != "largest" || size.first("a") != "" || newSizeWish("latest").first("a") != "" || !newSizeWish("none").none() {
		t.Error("whose size")
	}
}

// What a build says of itself reaches the viewer.
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

// A description that is shown again later says the same times: clocks do not jump back.
//
// FAULT: B19
func TestViewSessionKeepsItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, due, ended := time.Now().Add(-time.Hour), time.Now().Add(time.Minute), time.Now()
		running := api.Session{ID: "a", State: "running", Started: began, Duration: time.Hour.Milliseconds(), Activity: &api.Activity{Running: true, Due: &due}}
		over := api.Session{ID: "b", State: "exited", Started: began, Ended: &ended, Duration: time.Hour.Milliseconds()}
		for range 2 {
			if vs := viewSession(&running); !vs.Started.Equal(began) || !vs.Due.Equal(due) {
				t.Errorf("began %v, due %v; it was %v, %v", vs.Started, vs.Due, began, due)
			}
			if vs := viewSession(&over); !vs.Started.Equal(began) || !vs.Ended.Equal(ended) {
				t.Errorf("began %v, ended %v", vs.Started, vs.Ended)
			}
			time.Sleep(10 * time.Second) // of synctest
		}
	})
}

// What a viewer's own prompt runs is no pane, until it needs an answer.
func TestViewFeedHidesItsOwn(t *testing.T) {
	src := viewSource{mark: "mine", wishes: &wishes{}}
	f := &viewFeed{v: src, out: make(chan model.Update, 1), bells: map[string]int{}, exits: map[string]*int{}}
	own := api.Session{ID: "own", State: "running", Labels: map[string]string{markLabel: "mine"}}
	other := api.Session{ID: "other", State: "running", Labels: map[string]string{markLabel: "another's"}}
	for _, c := range []struct {
		needs *api.Needs
		want  int
	}{{nil, 1}, {&api.Needs{Kind: "password"}, 2}} {
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
