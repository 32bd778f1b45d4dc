package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// What a program asks is asked still when another daemon goes on, since when it was, and the screen is the one that it was;
// not so where the program printed something, or something was typed.
//
// FEATURES: R42 R90
func TestQuestionOutlivesItsOwner(t *testing.T) {
	confirm := evidence.Verdict{Kind: evidence.Confirm, Needs: true, Confidence: 99, Reason: "the text offers yes or no"}
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
			if err := s.do(t.Context(), func() { s.inputwait.needs(evidence.Verdict{}) }); err != nil {
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
				if err := s.do(t.Context(), func() {
					s.inputwait.needs(confirm)
					asked = s.Status().Needs
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
					cfg.Changed = func(st Status, change Change) {
						if change == ChangeInput && st.Needs.Kind != evidence.None {
							told = append(told, st.Needs)
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
