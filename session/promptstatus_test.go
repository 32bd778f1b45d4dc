package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// TestPrompt_StaysPending_UnderNextOwner checks that a prompt is still pending under the next daemon, since the same
// time and with the same screen; not if the program printed something, or input was typed.
//
// FEATURES: R42 R90
func TestPrompt_StaysPending_UnderNextOwner(t *testing.T) {
	confirm := inputdetect.Verdict{Kind: inputdetect.Confirm, NeedsInput: true, Confidence: 99, Reason: "the text offers yes or no"}
	for _, c := range []struct {
		name  string
		after func(t *testing.T, s *fixture)
		asks  bool
	}{
		{"nothing happened since", func(*testing.T, *fixture) {}, true},
		{"it printed", func(t *testing.T, s *fixture) {
			s.print(s.Session, "\r\ntoo late\r\n")
			waitText(t, s.Session, "too late")
		}, false},
		{"something was typed", func(t *testing.T, s *fixture) {
			if _, err := s.TypeIn(testContext(t), TypeRequest{Bytes: []byte("y")}); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"it goes on in silence", func(t *testing.T, s *fixture) {
			if err := s.do(t.Context(), func() { s.inputwait.setInputNeed(inputdetect.Verdict{}) }); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		for _, from := range []string{"a checkpoint", "the beginning"} {
			t.Run(c.name+", from "+from, func(t *testing.T) {
				s := reopenSession(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
				s.print(s.Session, "Really? [y/N] ")
				waitText(t, s.Session, "Really?")
				var asked InputNeed
				var at uint64
				if err := s.do(t.Context(), func() {
					s.inputwait.setInputNeed(confirm)
					s.dropRunningProbe()
					asked, at = s.Status().Needs, s.Status().Offset
				}); err != nil {
					t.Fatal(err)
				}
				c.after(t, s)
				version := s.Status().Version
				s.Stop()
				if from == "the beginning" {
					if err := os.Remove(filepath.Join(s.dir, "checkpoint")); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				var told []InputNeed
				again := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{}, func(cfg *Config) {
					cfg.OnChange = func(st Status, change Change) {
						if change == ChangeInput && st.Needs.Kind != inputdetect.None {
							told = append(told, st.Needs)
							if st.Offset != at { // the offset identifies a published prompt
								t.Errorf("prompt at %d, want %d", st.Offset, at)
							}
						}
					}
				})
				var now uint64
				if err := again.do(t.Context(), func() { now = again.engine.Version() }); err != nil {
					t.Fatal(err)
				}
				if now != version {
					t.Errorf("screen version %d, want %d", now, version)
				}
				again.Stop()
				switch {
				case c.asks && (len(told) != 1 || !told[0].Since.Equal(asked.Since) || told[0].Kind != asked.Kind || told[0].Reason != asked.Reason):
					t.Errorf("published %+v, want %+v", told, asked)
				case !c.asks && len(told) > 0:
					t.Errorf("published %+v, want nothing", told)
				}
			})
		}
	}
}

// TestPrompt_Republished_WhenWordsChange checks that a prompt after another of its kind is published with its own words
// and time. One that counts down, gets input, or is only detected with more certainty is the same prompt.
//
// FEATURES: R42
func TestPrompt_Republished_WhenWordsChange(t *testing.T) {
	asks := func(why, words string) inputdetect.Verdict {
		return inputdetect.Verdict{Kind: inputdetect.Confirm, NeedsInput: true, Confidence: 90, Reason: "app: " + why + `: "` + words + `"`}
	}
	for _, c := range []struct {
		name   string
		print  string
		then   inputdetect.Verdict
		resize bool
		anew   bool
	}{
		{"other words below it", "\r\nDelete all? [y/N] ", asks("the text offers yes or no", "Delete all? [y/N]"), false, true},
		{"other words in its row", "\rDelete all? [y/N] ", asks("the text offers yes or no", "Delete all? [y/N]"), false, true},
		{"its words again, below it", "\r\nGo on in 9 s? [Y/n] ", asks("the text offers yes or no", "Go on in 9 s? [Y/n]"), false, true},
		{"surer", "", asks("it reads for long", "Go on in 9 s? [Y/n]"), false, false},
		{"it counts down", "\rGo on in 8 s? [Y/n] ", asks("the text offers yes or no", "Go on in 8 s? [Y/n]"), false, false},
		{"typed at", "y", asks("the text offers yes or no", "Go on in 9 s? [Y/n] y"), false, false},
		{"in a narrower window", "", asks("the text offers yes or no", "s? [Y/n]"), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reopenSession(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
			s.print(s.Session, "Go on in 9 s? [Y/n] ")
			waitText(t, s.Session, "Go on")
			var first, second InputNeed
			if err := s.do(t.Context(), func() {
				s.inputwait.setInputNeed(asks("the text offers yes or no", "Go on in 9 s? [Y/n]"))
				s.dropRunningProbe()
				first = s.Status().Needs
			}); err != nil {
				t.Fatal(err)
			}
			if c.resize {
				if err := s.Session.Resize(testContext(t), 12, 24); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.do(t.Context(), func() {
				_, _ = s.engine.Write([]byte(c.print))
				s.inputwait.setInputNeed(c.then)
				second = s.Status().Needs
			}); err != nil {
				t.Fatal(err)
			}
			if anew := second.Since.After(first.Since); anew != c.anew || (second.Reason == c.then.Reason) != c.anew {
				t.Errorf("after %+v: %+v", first, second)
			}
		})
	}
}

// dropRunningProbe keeps the finding: a probe would find that the test's program, which does not exist, waits for
// nothing.
func (s *fixture) dropRunningProbe() {
	s.inputwait.generation++ // drops a running probe too
	s.inputwait.scheduleProbe(time.Now().Add(time.Hour))
}

// TestPrompt_Kept_AfterUncertainProbe checks that an uncertain probe does not change the pending prompt.
//
// FEATURES: R42 R90
func TestPrompt_Kept_AfterUncertainProbe(t *testing.T) {
	s := reopenSession(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
	if err := s.do(t.Context(), func() {
		h := s.inputwait
		h.journaled = InputNeed{Kind: inputdetect.Text, Confidence: 80, Reason: "app: reads", Since: time.Unix(1, 0)}
		h.restore()
		h.publishFinding(&inputwait.Finding{Unconfirmed: true})
		if got := s.Status().Needs; !got.Since.Equal(time.Unix(1, 0)) {
			t.Errorf("after an uncertain probe: %+v", got)
		}
		h.publishFinding(&inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Text, NeedsInput: true, Confidence: 80, Reason: "app: reads"}})
		if got := s.Status().Needs; !got.Since.Equal(time.Unix(1, 0)) {
			t.Errorf("after a certain probe: %+v", got)
		}
		h.publishFinding(&inputwait.Finding{Unconfirmed: true})
		if got := s.Status().Needs; got.Kind != inputdetect.None {
			t.Errorf("after a later uncertain probe: %+v", got)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
