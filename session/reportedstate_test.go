package session

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// TestStatus_KeptOverRestart checks that a session's status is the same after a restart, however long before the
// checkpoint the program reported it, and that it agrees with the screen.
//
// FAULT: B20
func TestStatus_KeptOverRestart(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "\x1b]0;the title\a\x1b]7;file:///usr/lib\a\x1b]9;4;1;42\a\x1b[?1049hfull screen")
	waitText(t, s.Session, "full screen")
	s.Stop()
	for range 2 { // the second owner starts from the checkpoint only
		s = reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
		s.print(s.Session, strings.Repeat("\x1b[Hmore of it", 1000)+"end")
		waitText(t, s.Session, "end")
		st := s.Status()
		if !st.Alt || st.Title != "the title" || st.Cwd != "/usr/lib" || st.Progress != "normal" || st.Percent != 42 {
			t.Errorf("alt %v, title %q, cwd %q, progress %s %d", st.Alt, st.Title, st.Cwd, st.Progress, st.Percent)
		}
		var f vterm.Frame
		if err := s.Frame(testContext(t), &f, vterm.Query{}); err != nil || f.Alt != st.Alt {
			t.Errorf("screen: alt %v, %v", f.Alt, err)
		}
		s.Stop()
	}
}
