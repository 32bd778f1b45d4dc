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

// A prompt is still pending under the next daemon, since the same time and with the same screen; not if the program
// printed something, or input was typed.
//
// FEATURES: R42 R90
func TestQuestionOutlivesItsOwner(t *testing.T) {
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
			if _, err := s.TypeIn(testContext(t), Typing{Bytes: []byte("y")}); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"it goes on in silence", func(t *testing.T, s *fixture) {
			if err := s.do(t.Context(), func() { s.inputwait.setNeeds(inputdetect.Verdict{}) }); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		for _, from := range []string{"a checkpoint", "the beginning"} {
			t.Run(c.name+", from "+from, func(t *testing.T) {
				s := reopen(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
				s.print(s.Session, "Really? [y/N] ")
				waitText(t, s.Session, "Really?")
				var asked Needs
				var at uint64
				if err := s.do(t.Context(), func() {
					s.inputwait.setNeeds(confirm)
					s.looksLater()
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
				var told []Needs
				again := reopen(t, s.dir, s.fake.ring, journal.Options{}, func(cfg *Config) {
					cfg.OnChange = func(st Status, change Change) {
						if change == ChangeInput && st.Needs.Kind != inputdetect.None {
							told = append(told, st.Needs)
							if st.Offset != at { // identifies a published prompt
								t.Errorf("it is asked at %d, not %d", st.Offset, at)
							}
						}
					}
				})
				var now uint64
				if err := again.do(t.Context(), func() { now = again.engine.Version() }); err != nil {
					t.Fatal(err)
				}
				if now != version {
					t.Errorf("the screen is at version %d, was at %d", now, version)
				}
				again.Stop()
				switch {
				case c.asks && (len(told) != 1 || !told[0].Since.Equal(asked.Since) || told[0].Kind != asked.Kind || told[0].Reason != asked.Reason):
					t.Errorf("told of %+v, want %+v", told, asked)
				case !c.asks && len(told) > 0:
					t.Errorf("told of %+v, want nothing", told)
				}
			})
		}
	}
}

// A prompt after another of its kind is published with its own words and time. One that counts down, gets input, or is
// only detected with more certainty is the same prompt.
//
// FEATURES: R42
func TestQuestionAfterQuestion(t *testing.T) {
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
			s := reopen(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
			s.print(s.Session, "Go on in 9 s? [Y/n] ")
			waitText(t, s.Session, "Go on")
			var first, second Needs
			if err := s.do(t.Context(), func() {
				s.inputwait.setNeeds(asks("the text offers yes or no", "Go on in 9 s? [Y/n]"))
				s.looksLater()
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
				s.inputwait.setNeeds(c.then)
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

// looksLater keeps the finding as it is: a probe of the session would find that its program, which does not exist,
// waits for nothing.
func (s *fixture) looksLater() {
	s.inputwait.generation++ // nor does one that is under way count
	s.inputwait.scheduleProbe(time.Now().Add(time.Hour))
}

// An uncertain probe does not change the pending prompt.
//
// FEATURES: R42 R90
func TestDoubtAfterResume(t *testing.T) {
	s := reopen(t, t.TempDir(), ring.Local(ring.DefaultSize), journal.Options{})
	if err := s.do(t.Context(), func() {
		h := s.inputwait
		h.journaled = Needs{Kind: inputdetect.Text, Confidence: 80, Reason: "app: reads", Since: time.Unix(1, 0)}
		h.resume()
		h.publishFinding(&inputwait.Finding{Doubt: true})
		if got := s.Status().Needs; !got.Since.Equal(time.Unix(1, 0)) {
			t.Errorf("in doubt: %+v", got)
		}
		h.publishFinding(&inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Text, NeedsInput: true, Confidence: 80, Reason: "app: reads"}})
		if got := s.Status().Needs; !got.Since.Equal(time.Unix(1, 0)) {
			t.Errorf("found again: %+v", got)
		}
		h.publishFinding(&inputwait.Finding{Doubt: true})
		if got := s.Status().Needs; got.Kind != inputdetect.None {
			t.Errorf("in doubt later: %+v", got)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
