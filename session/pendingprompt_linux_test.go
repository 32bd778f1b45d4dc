package session

import (
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/shell"
)

// A prompt that is still pending after a user typed part of the answer is not published again. Its end is published
// once known, and at once when a line ends or a program types.
//
// FEATURES: R42
func TestHeldQuestion(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
		s := d.s
		text, doubt := inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Text, NeedsInput: true}}, inputwait.Finding{Doubt: true}
		person := func(what string) func(*inputWait) { return func(h *inputWait) { h.clearPrompt([]byte(what), true) } }
		prints := func(what string) func(*inputWait) {
			return func(h *inputWait) {
				s.showNew([]byte(what))
				h.onOutput(time.Now())
			}
		}
		looks := func(f inputwait.Finding) func(*inputWait) { return func(h *inputWait) { h.promptUndecided(&f) } }
		for _, c := range []struct {
			name  string
			steps []func(*inputWait)
			told  []Change
			asks  bool // in the end
		}{
			{"a character", []func(*inputWait){person("a")}, nil, false},
			{"and its echo", []func(*inputWait){person("a"), prints("a")}, nil, false},
			{"a look that is not sure", []func(*inputWait){person("a"), looks(doubt)}, nil, false},
			{"the same question", []func(*inputWait){person("a"), prints("a"), looks(text)}, []Change{ChangeInputAgain}, true},
			{"two characters", []func(*inputWait){person("a"), person("b"), prints("ab"), looks(text)}, []Change{ChangeInputAgain}, true},
			{"no question", []func(*inputWait){person("a"), looks(inputwait.Finding{})}, []Change{ChangeInput}, false},
			{"another row", []func(*inputWait){person("y"), prints("y\r\nworking")}, []Change{ChangeInput}, false},
			{"the end of a line", []func(*inputWait){person("a"), person("\r")}, []Change{ChangeInput}, false},
			{"a line", []func(*inputWait){person("a\r")}, []Change{ChangeInput}, false},
			{"a program", []func(*inputWait){func(h *inputWait) { h.clearPrompt([]byte("a"), false) }}, []Change{ChangeInput}, false},
		} {
			var told []Change
			err := s.do(t.Context(), func() {
				s.update(ChangeInput, func(st *Status) { st.Needs = Needs{Kind: inputdetect.Text} })
				before := s.cfg.OnChange
				s.cfg.OnChange = func(_ Status, c Change) { told = append(told, c) }
				defer func() { s.cfg.OnChange = before }()
				for _, step := range c.steps {
					step(s.inputwait)
				}
				if asks := s.Status().Needs.Kind != inputdetect.None; asks != c.asks {
					t.Errorf("%s: asks %v", c.name, asks)
				}
				s.inputwait.pending = nil
			})
			if err != nil || !slices.Equal(told, c.told) {
				t.Errorf("%s: told %v, %v; want %v", c.name, told, err, c.told)
			}
		}

		// The prompt of a silent program stays as it was.
		var told []Change
		if err := s.do(t.Context(), func() {
			began := time.Now().Add(-time.Hour)
			s.cfg.OnChange = func(_ Status, c Change) { told = append(told, c) }
			s.update(ChangeOutput, func(st *Status) {
				st.Needs, st.Shell = Needs{}, ShellStatus{Phase: shell.PhasePrompt, Since: began}
			})
			h := s.inputwait
			h.clearPrompt([]byte("1"), true)
			if s.Status().Shell.Phase == shell.PhasePrompt {
				t.Error("it is at its prompt while it is not known whether it has the key")
			}
			h.promptUndecided(&inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Prompt}})
			if st := s.Status(); st.Shell.Phase != shell.PhasePrompt || !st.Shell.Since.Equal(began) || st.Needs.Kind != inputdetect.None {
				t.Errorf("%+v", st)
			}
		}); err != nil || !slices.Equal(told, []Change{ChangeInputAgain}) {
			t.Errorf("told %v, %v", told, err)
		}
	})
}

// The echo of a key that a user types into an answer is not looked at as soon as what a program prints: the next key may come
// just then.
//
// FEATURES: R42
func TestEchoIsLookedAtLater(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
		s := d.s
		for _, c := range []struct {
			name  string
			needs inputdetect.Kind
			want  time.Duration
		}{
			{"no question", inputdetect.None, inputwait.First},
			{"a question", inputdetect.Text, inputwait.Second},
		} {
			if err := s.do(t.Context(), func() {
				h := s.inputwait
				s.update(ChangeInput, func(st *Status) { st.Needs = Needs{Kind: c.needs} })
				h.clearPrompt([]byte("a"), true)
				s.showNew([]byte("a"))
				printed := time.Now()
				h.onOutput(printed)
				if after := h.at.Sub(printed); after != c.want {
					t.Errorf("%s: after %v; want %v", c.name, after, c.want)
				}
				h.pending = nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
