package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// screenAndHistory returns the lines of the history and of the screen, as wrapped.
func screenAndHistory(t *testing.T, s *Session) string {
	t.Helper()
	var lines []string
	if err := s.WithScreen(testContext(t), func(v View) {
		var f vterm.Frame
		h := v.Engine.History()
		all := make([]vterm.Line, h.Len())
		for i := range all {
			h.Line(i, &all[i])
		}
		v.Engine.Frame(&f, vterm.Query{})
		for _, l := range append(all, f.Lines...) {
			var b []byte
			for _, c := range l.Cells {
				b = f.AppendText(b, c)
			}
			lines = append(lines, strings.TrimRight(string(b), " "))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestHistory_ReadBetweenResizes checks that history which was read while the terminal was narrower is wrapped as before
// once its owner was killed: the next one replays output and sizes, and does not know of the read.
//
// FEATURES: R10, R90
func TestHistory_ReadBetweenResizes(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, strings.Repeat("a", 50)+"\x1b[40Cend of a line with a gap in it"+strings.Repeat("\r\n", 30)+
		"\x1b#6"+strings.Repeat("w", 40)+strings.Repeat("\r\n", 30)+"done")
	waitText(t, s.Session, "done")
	for _, cols := range []int{60, 20, 120} {
		if err := s.Session.Resize(testContext(t), cols, 24); err != nil {
			t.Fatal(err)
		}
		screenAndHistory(t, s.Session)
	}
	want := screenAndHistory(t, s.Session)
	s.Stop()
	if err := os.Remove(filepath.Join(s.dir, "checkpoint")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	again := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	if got := screenAndHistory(t, again.Session); got != want {
		t.Errorf("after a kill:\n%s\nbefore:\n%s", got, want)
	}
}

// TestSize_OfKilledDaemon checks that a size which a daemon set before it was killed is the session's, and is journaled.
//
// FEATURES: R10, R90
func TestSize_OfKilledDaemon(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: 60, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	terminal := func(c *Config) { c.Device = &ttyDevice{fakeDevice: c.Device.(*fakeDevice), master: master, tty: tty} }
	for _, c := range []struct {
		name      string
		prints    string
		journaled [2]int
		with      []func(*Config)
		want      [2]int
	}{
		{"in the journal, not in the record", "text", [2]int{100, 30}, nil, [2]int{100, 30}},
		{"at the terminal only", "text", [2]int{}, []func(*Config){terminal}, [2]int{60, 20}},
		{"at the terminal only, of a silent program", "", [2]int{}, []func(*Config){terminal}, [2]int{60, 20}},
		{"at the terminal, another in the journal", "text", [2]int{100, 30}, []func(*Config){terminal}, [2]int{60, 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reopenSession(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
			if c.prints != "" {
				s.print(s.Session, c.prints)
				waitText(t, s.Session, c.prints)
			}
			if c.journaled != [2]int{} {
				if err := s.Session.Resize(testContext(t), c.journaled[0], c.journaled[1]); err != nil {
					t.Fatal(err)
				}
			}
			s.Stop()
			again := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{}, c.with...)
			var f vterm.Frame
			if err := again.Frame(testContext(t), &f, vterm.Query{}); err != nil {
				t.Fatal(err)
			}
			st := again.Status()
			if got := [2]int{st.Cols, st.Rows}; got != c.want || [2]int{f.Cols, f.Rows} != c.want {
				t.Errorf("status %v, screen %d×%d, want %v", got, f.Cols, f.Rows, c.want)
			}
			if cols, rows, err := again.journal.SizeAt(again.journal.End()); err != nil || [2]int{cols, rows} != c.want {
				t.Errorf("journal: %d×%d, %v, want %v", cols, rows, err, c.want)
			}
		})
	}
}

// TestSize_WithCheckpoint checks that the screen has the status's size, also if it came from a checkpoint, and if a
// size was not replayed because the checkpoint included it by a clock that was set back.
//
// FEATURES: R10, R90
func TestSize_WithCheckpoint(t *testing.T) {
	for _, c := range []struct {
		name       string
		after      string // printed after the size was set
		checkpoint [2]int // its size
	}{
		{"newer than the last size", "more", [2]int{100, 30}},
		{"older than the last size, not by the clock", "", [2]int{80, 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFixture(t, journal.Options{})
			s.print(s.Session, "text")
			waitText(t, s.Session, "text")
			if err := s.Session.Resize(testContext(t), 100, 30); err != nil {
				t.Fatal(err)
			}
			if c.after != "" {
				s.print(s.Session, c.after)
				waitText(t, s.Session, c.after)
			}
			s.Stop()
			screen := vterm.New(vterm.Options{Cols: c.checkpoint[0], Rows: c.checkpoint[1]})
			_, _ = screen.Write([]byte("text" + c.after)) // never fails
			if err := checkpoint.Write(s.dir, checkpoint.Checkpoint{
				Engine: DefaultEngine, Offset: s.journal.End(), Time: time.Now().Add(time.Hour), Snapshot: screen.AppendSnapshot(nil),
			}); err != nil {
				t.Fatal(err)
			}
			again := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
			var f vterm.Frame
			if err := again.Frame(testContext(t), &f, vterm.Query{}); err != nil {
				t.Fatal(err)
			}
			if st := again.Status(); st.Cols != 100 || st.Rows != 30 || f.Cols != 100 || f.Rows != 30 {
				t.Errorf("status %d×%d, screen %d×%d, want 100×30", st.Cols, st.Rows, f.Cols, f.Rows)
			}
		})
	}
}

// TestSetOuter_SizesCells checks that the PTY and replies to programs have the cell size of the client's terminal.
//
// FAULT: H10
func TestSetOuter_SizesCells(t *testing.T) { synctest.Test(t, testSetOuterSizesCells) }

func testSetOuterSizesCells(t *testing.T) {
	t.Helper()
	d := newTTYDevice(t, t.TempDir(), ring.Local(ring.DefaultSize), nil, func(*Config) {})
	if err := sys.SetSize(int(d.master.Fd()), 100, 20); err != nil {
		t.Fatal(err)
	}
	if err := d.s.SetOuter(t.Context(), vterm.Outer{CellWidth: 9, CellHeight: 18}); err != nil {
		t.Fatal(err)
	}
	if cell, err := sys.CellSize(int(d.tty.Fd())); err != nil || cell != (sys.Cell{Width: 9, Height: 18}) {
		t.Errorf("%+v, %v", cell, err)
	}
	if err := d.s.WithScreen(t.Context(), func(v View) {
		if v.Modes.CellWidth != 9 || v.Modes.CellHeight != 18 {
			t.Errorf("%+v", v.Modes)
		}
	}); err != nil {
		t.Fatal(err)
	}
	engine, err := d.s.restoreEmulator() // as after an eviction
	if err == nil {
		d.s.describeOuter(engine)
	}
	if err != nil || engine.Modes().CellWidth != 9 {
		t.Errorf("%v, %+v", err, engine.Modes())
	}
}
