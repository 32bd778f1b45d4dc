package overlays

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/vterm/input"
)

var asked = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// desk is where approvals wait.
type desk struct {
	list    []model.Approval
	ended   map[string]string
	answers []string
}

func (d *desk) panel() *Approvals {
	return &Approvals{
		Items:   func() []model.Approval { return slices.Clone(d.list) },
		Outcome: func(id string) string { return d.ended[id] },
		Answer: func(ids []string, r Reply) {
			d.answers = append(d.answers, strings.TrimSpace(fmt.Sprint(ids, " ", r.Answer, " ", r.Rule, r.Feedback)))
			d.end(ids...)
		},
		Home: "/home/me", Now: func() time.Time { return asked.Add(90 * time.Second) },
	}
}

func (d *desk) end(ids ...string) {
	d.list = slices.DeleteFunc(d.list, func(a model.Approval) bool { return slices.Contains(ids, a.ID) })
}

func push(id string) model.Approval {
	return model.Approval{
		ID: id, Requester: "agent claude", Session: "s1", Name: "build", What: "make && git push", Cwd: "/home/me/src", Group: "push",
		Commands: []model.Judged{{Text: "make", Verdict: "allow"}, {Text: "git push", Verdict: "ask"}},
		Effects:  []string{"sends commits to origin"}, Why: `rule "p"`, Risk: "high", Covers: []string{"git push …"}, Rule: "allow git push", Asked: asked, Count: 1,
	}
}

func remove(id, dir string) model.Approval {
	return model.Approval{ID: id, Requester: "uid 7", What: "rm -rf " + dir, Group: "rm", Asked: asked, Count: 1,
		NoRule: "hard:remove always requires approval"}
}

// TestApprovalsKeys checks which answers the keys give, and that Escape gives none.
//
// FEATURES: R63 R80
func TestApprovalsKeys(t *testing.T) {
	for _, c := range []struct {
		keys string
		want []string
		open bool
	}{
		{"1", []string{"[A1] once"}, false},
		{"2", []string{"[A1] session"}, false},
		{"Enter", []string{"[A1] once"}, false},
		{"Down Enter", []string{"[A1] session"}, false},
		{"Up Up Enter Enter", []string{"[A1] always allow git push"}, false},
		{"3", nil, true}, // the rule is shown first
		{"3 Enter", []string{"[A1] always allow git push"}, false},
		{"3 C-w C-w C-w l s Enter", []string{"[A1] always ls"}, false},
		{"3 C-u Enter", nil, true}, // no rule is no answer
		{"3 Escape 1", []string{"[A1] once"}, false},
		{"4 Enter", []string{"[A1] reject"}, false},
		{"4 n o x Backspace Enter", []string{"[A1] reject no"}, false},
		{"4 1 2 Escape Escape", nil, false},
		{"Escape", nil, false},
		{"C-c", nil, false},
		{"x 5 0 y a", nil, true},
	} {
		d := &desk{list: []model.Approval{push("A1")}}
		s := show(t, 80, 24, d.panel())
		s.keys(strings.Fields(c.keys)...)
		if !slices.Equal(d.answers, c.want) || (s.over != nil) != c.open {
			t.Errorf("%s: answers %q, open %v", c.keys, d.answers, s.over != nil)
		}
	}
}

// TestApprovalsThatCannotBe checks that impossible answers are not offered: a rule if none can allow it, a session if
// there is none.
//
// FEATURES: R63
func TestApprovalsThatCannotBe(t *testing.T) {
	d := &desk{list: []model.Approval{remove("A1", "x")}}
	s := show(t, 80, 24, d.panel())
	s.keys("2", "3", "Enter")
	if d.answers != nil || s.over == nil {
		t.Errorf("answered: %q", d.answers)
	}
	s.shows("no session yet", "no rule can allow it: hard:remove always")
	typed := push("A2")
	typed.Rule = "" // none is proposed, and one may allow it: it is typed
	d = &desk{list: []model.Approval{typed}}
	show(t, 80, 24, d.panel()).keys("3", "Enter", "g", "i", "t", "Enter")
	if !slices.Equal(d.answers, []string{"[A2] always git"}) {
		t.Errorf("answered: %q", d.answers)
	}
}

// TestApprovalsAnsweredElsewhere checks that an approval that ends elsewhere while a user views it stays, with its
// result, until a key acknowledges it. That key answers nothing, and neither does one pressed before the next approval
// was shown.
//
// FEATURES: R63 R80
func TestApprovalsAnsweredElsewhere(t *testing.T) {
	d := &desk{list: []model.Approval{remove("A1", "x"), push("A2"), push("A3")}, ended: map[string]string{"A1": "allowed once by uid 7"}}
	p := d.panel()
	s := show(t, 80, 24, p)
	s.keys("4", "w", "h", "y")
	d.end("A1")
	s.draw()
	s.shows("rm -rf x", "allowed once by uid 7; press any key")
	s.keys("1")
	if d.answers != nil {
		t.Fatalf("the key that acknowledged answered %q", d.answers)
	}
	s.shows("make && git push")
	d.end("A2")
	p.Key(key(t, "1"))
	p.Key(key(t, "1")) // not drawn since: neither may answer A3
	if d.answers != nil {
		t.Fatalf("answered unseen: %q", d.answers)
	}
	s.draw()
	s.shows("A3", "git push")
	s.keys("1")
	if !slices.Equal(d.answers, []string{"[A3] once"}) || s.over != nil {
		t.Errorf("answers %q", d.answers)
	}
	d.list = []model.Approval{push("A4")}
	p = d.panel()
	s = show(t, 80, 24, p)
	d.end("A4")
	s.draw()
	s.shows("no longer pending")
	if p.Empty() {
		t.Error("the panel would close before the user sees the result")
	}
	if s.keys("x"); s.over != nil {
		t.Error("the panel is open without an approval")
	}
}

// TestApprovalsByGroup checks that of a hundred approvals those alike are together and can be answered at once, except
// those that arrived after the count was shown.
//
// FEATURES: R63
func TestApprovalsByGroup(t *testing.T) {
	d := &desk{}
	for i := range 100 {
		a := remove(fmt.Sprint("A", i+1), fmt.Sprint("dir", i))
		if i%4 == 3 {
			a = push(a.ID)
		}
		d.list = append(d.list, a)
	}
	p := d.panel()
	s := show(t, 80, 24, p)
	s.shows("Approval A1", "1 of 100", "a: all 75 like this", "rm -rf dir0")
	s.keys("Right", "Right", "Right")
	s.shows("4 of 100", "rm -rf dir4") // A4 is of the other group
	s.keys("Tab")
	s.shows("Approval A4", "76 of 100", "a: all 25 like this")
	s.keys("a")
	s.shows("yes, once, to all 25", "a: only this one")
	d.list = append(d.list, push("A101"))
	s.done(p.Key(key(t, "1"))) // not drawn since the last one arrived
	if len(d.answers) != 1 || strings.Count(d.answers[0], " ") != 25 || strings.Contains(d.answers[0], "A101") {
		t.Fatalf("answers %q", d.answers)
	}
	s.shows("1 of 76", "rm -rf dir0", "a: all 75 like this")
	s.keys("Tab", "Right", "S-Tab", "a")
	if len(d.list) != 76 || p.forGroup {
		t.Errorf("%d left", len(d.list))
	}
	s.shows("Approval A101", "76 of 76")
}

// TestApprovalsDrawn checks that a request is shown in full on a terminal of any size, and that nothing in it can
// deceive.
//
// FEATURES: R63 R80
func TestApprovalsDrawn(t *testing.T) {
	d := &desk{list: []model.Approval{push("A1"), push("A2")}}
	d.list[0].Count, d.list[0].Started, d.list[0].Instead = 3, "make", "git push --dry-run"
	all := []string{"make && git push", "? git push", "→ sends commits to origin", `rule "p"`, "--dry-run", "~/src", "build", "agent claude", "1m30s ago", "high"}
	s := show(t, 80, 24, d.panel())
	s.shows(append(all, "Approval A1", "1 of 2", "requested 3 times", "started by: make", "2 yes, for this session: git push …", "3 yes, always: allow git push", "Esc: later")...)

	s = show(t, 20, 5, d.panel())
	s.shows("A1 high 1/2", "1onc 2ses 3alw 4no")
	seen := s.term.Text()
	for range 20 {
		s.keys("PageDown")
		seen += s.term.Text()
	}
	for _, w := range all {
		if !strings.Contains(seen, strings.Fields(w)[0]) {
			t.Errorf("%q cannot be seen at 20×5:\n%s", w, seen)
		}
	}
	s.keys("PageUp", "4", "n", "o", "t", " ", "n", "o", "w")
	s.shows("why not?", "not now")
	s.keys("Enter", "3")
	s.shows("rule:…ow git push", "A2 high 1/1")
	s.keys("C-u")
	for range 40 {
		s.keys("x")
	}
	if got := s.term.Row(4 - 1); !strings.HasSuffix(got, "xxxx") {
		t.Errorf("the end of a long rule is out of sight: %q", got)
	}

	d.list = []model.Approval{{ID: "A9", What: "rm \u202etxt.\u200b \x1b[31m\x9bm\xff\tx\r" + strings.Repeat("y", 200) + " /", Group: "g", Asked: asked}}
	s = show(t, 80, 24, d.panel())
	s.shows(`rm \u202etxt.\u200b \x1b[31m`, `\xff\tx\x0d`, "yyy /")
}

// TestApprovalDetails_ShownInFull_WhenTruncated checks that the effect of an answer is shown in full if its row, which
// then ends in "…", has no space for it.
//
// FEATURES: R63 R80
func TestApprovalDetails_ShownInFull_WhenTruncated(t *testing.T) {
	long := push("A1")
	long.What = "git push --force origin some-quite-long-branch-name-of-mine && rm -rf /srv/build/output/of/something"
	long.Covers, long.Rule = []string{"exactly: " + long.What}, "git push --force origin some-quite-long-branch-name-of-mine; exactly rm -rf /srv/build/output/of/something"
	for _, c := range []struct {
		cols, rows int
		want       []string
	}{
		{80, 24, []string{"2 yes, for this session: exactly: git push", "3 yes, always: git push", "rm -rf /srv/build/output/of/something"}},
		{41, 12, []string{"2 yes, for this session: exactly: git", "3 yes, always: git push"}},
		{20, 5, []string{"2 yes, for this se", "3 yes, always: git"}},
	} {
		s := show(t, c.cols, c.rows, (&desk{list: []model.Approval{long}}).panel())
		if c.cols > 20 && strings.Count(s.term.Text(), "…│") < 2 {
			t.Errorf("at %d×%d the answers do not end in …:\n%s", c.cols, c.rows, s.term.Text())
		}
		var told string
		for range 40 {
			told += s.term.Text()
			s.keys("PageDown")
		}
		for _, want := range c.want {
			if !strings.Contains(told, want) {
				t.Errorf("at %d×%d %q is not shown:\n%s", c.cols, c.rows, want, told)
			}
		}
	}
}

// TestApprovalsMouse checks that the mouse selects an answer, and scrolls, and that a paste answers nothing, and goes
// into a reason.
//
// FEATURES: R80
func TestApprovalsMouse(t *testing.T) {
	d := &desk{list: []model.Approval{push("A1"), push("A2")}}
	d.list[1].What = strings.Repeat("x\n", 100)
	p := d.panel()
	s := show(t, 80, 24, p)
	click := func(x, y int) { s.done(p.Mouse(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, 0), 0)) }
	p.Paste("1\n")
	click(5, 0)
	click(5, p.area.y-1)
	if d.answers != nil {
		t.Fatalf("answered %q", d.answers)
	}
	click(5, p.area.y+1)
	if !slices.Equal(d.answers, []string{"[A1] session"}) {
		t.Errorf("answers %q", d.answers)
	}
	s.shows("more rows")
	first := s.term.Text()
	s.done(p.Mouse(tcell.NewEventMouse(5, 5, tcell.WheelDown, 0), 0))
	if s.term.Text() == first || p.first != 1 {
		t.Error("the wheel does not scroll")
	}
	s.done(p.Mouse(tcell.NewEventMouse(5, 5, tcell.WheelUp, 0), 0))
	click(5, p.area.y+3)
	s.done(p.Paste("be\ncause"))
	s.keys("Enter")
	if len(d.answers) != 2 || d.answers[1] != "[A2] reject because" {
		t.Errorf("answers %q", d.answers)
	}
}

// FuzzApprovals checks that for any request, in any terminal, no row is longer than the terminal and nothing that moves
// its cursor is drawn.
func FuzzApprovals(f *testing.F) {
	f.Add("git push \x1b[2J", "agent \u202e", 20, 5, "4no")
	f.Add("rm -rf \xff\n\n\t", "me", 1, 1, "3x")
	f.Add("make", "me", 1, 5, "4no"+strings.Repeat(" %", 1000))
	f.Fuzz(func(t *testing.T, what, who string, cols, rows int, keys string) {
		cols, rows = max(1, cols%100), max(1, rows%40)
		d := &desk{list: []model.Approval{{ID: "A1", What: what, Requester: who, Why: what, Rule: what, Session: "s", Group: "g", Commands: []model.Judged{{Text: what}, {Text: who}}}}}
		p := d.panel()
		s := show(t, cols, rows, p)
		for _, r := range keys {
			if s.over != nil {
				s.done(p.Key(input.Key{Code: r, Text: string(r)}))
			}
		}
		for _, r := range wrap(what, cols) {
			for _, c := range r {
				if c < ' ' || c >= 0x7f && c < 0xa0 || unicode.Is(unicode.Cf, c) {
					t.Fatalf("%q is drawn", r)
				}
			}
		}
	})
}

// shows fails unless all of these are on the screen.
func (d *stage) shows(want ...string) {
	d.t.Helper()
	for _, w := range want {
		if !strings.Contains(d.term.Text(), w) {
			d.t.Errorf("%q is not on the screen:\n%s", w, d.term.Text())
		}
	}
}

func key(t *testing.T, name string) input.Key {
	t.Helper()
	k, err := input.ParseKey(name)
	if err != nil {
		t.Fatal(err)
	}
	k.Text = name
	return k
}
