package session

import (
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/shell"
)

// TestPendingPrompt checks that a prompt which is still pending after a user typed part of the answer is not published
// again. Its end is published once known, and at once when a line ends or a program types.
//
// FEATURES: R42
func TestPendingPrompt(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		s := d.s
		text, doubt := inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Text, NeedsInput: true}}, inputwait.Finding{Unconfirmed: true}
		person := func(what string) func(*inputWait) { return func(h *inputWait) { h.clearPrompt([]byte(what), true) } }
		prints := func(what string) func(*inputWait) {
			return func(h *inputWait) {
				s.feedOutput([]byte(what))
				h.onOutput(time.Now())
			}
		}
		looks := func(f inputwait.Finding) func(*inputWait) { return func(h *inputWait) { h.promptUndecided(&f) } }
		for _, c := range []struct {
			name  string
			steps []func(*inputWait)
			told  []Change
			asks  bool // whether the prompt is pending in the end
		}{
			{"a character", []func(*inputWait){person("a")}, nil, false},
			{"and its echo", []func(*inputWait){person("a"), prints("a")}, nil, false},
			{"a look that is not sure", []func(*inputWait){person("a"), looks(doubt)}, nil, false},
			{"the same question", []func(*inputWait){person("a"), prints("a"), looks(text)}, []Change{ChangeInputKept}, true},
			{"two characters", []func(*inputWait){person("a"), person("b"), prints("ab"), looks(text)}, []Change{ChangeInputKept}, true},
			{"no question", []func(*inputWait){person("a"), looks(inputwait.Finding{})}, []Change{ChangeInput}, false},
			{"another row", []func(*inputWait){person("y"), prints("y\r\nworking")}, []Change{ChangeInput}, false},
			{"the end of a line", []func(*inputWait){person("a"), person("\r")}, []Change{ChangeInput}, false},
			{"a line", []func(*inputWait){person("a\r")}, []Change{ChangeInput}, false},
			{"a program", []func(*inputWait){func(h *inputWait) { h.clearPrompt([]byte("a"), false) }}, []Change{ChangeInput}, false},
		} {
			var told []Change
			err := s.do(t.Context(), func() {
				s.update(ChangeInput, func(st *Status) { st.Needs = InputNeed{Kind: inputdetect.Text} })
				before := s.cfg.OnChange
				s.cfg.OnChange = func(_ Status, c Change) { told = append(told, c) }
				defer func() { s.cfg.OnChange = before }()
				for _, step := range c.steps {
					step(s.inputwait)
				}
				if asks := s.Status().Needs.Kind != inputdetect.None; asks != c.asks {
					t.Errorf("%s: prompt pending: %v", c.name, asks)
				}
				s.inputwait.pending = nil
			})
			if err != nil || !slices.Equal(told, c.told) {
				t.Errorf("%s: published %v, %v; want %v", c.name, told, err, c.told)
			}
		}

		// The prompt of a silent program is unchanged.
		var told []Change
		if err := s.do(t.Context(), func() {
			began := time.Now().Add(-time.Hour)
			s.cfg.OnChange = func(_ Status, c Change) { told = append(told, c) }
			s.update(ChangeOutput, func(st *Status) {
				st.Needs, st.Shell = InputNeed{}, ShellStatus{Phase: shell.PhasePrompt, Since: began}
			})
			h := s.inputwait
			h.clearPrompt([]byte("1"), true)
			if s.Status().Shell.Phase == shell.PhasePrompt {
				t.Error("at its prompt though it may have read the key")
			}
			h.promptUndecided(&inputwait.Finding{Verdict: inputdetect.Verdict{Kind: inputdetect.Prompt}})
			if st := s.Status(); st.Shell.Phase != shell.PhasePrompt || !st.Shell.Since.Equal(began) || st.Needs.Kind != inputdetect.None {
				t.Errorf("%+v", st)
			}
		}); err != nil || !slices.Equal(told, []Change{ChangeInputKept}) {
			t.Errorf("published %v, %v", told, err)
		}
	})
}

// TestEcho_ProbedLater checks that the echo of a key which a user types into an answer is probed later than a program's
// output: the next key may follow at once.
//
// FEATURES: R42
func TestEcho_ProbedLater(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		s := d.s
		for _, c := range []struct {
			name  string
			needs inputdetect.Kind
			want  time.Duration
		}{
			{"no question", inputdetect.None, inputwait.FirstProbe},
			{"a question", inputdetect.Text, inputwait.SecondProbe},
		} {
			if err := s.do(t.Context(), func() {
				h := s.inputwait
				s.update(ChangeInput, func(st *Status) { st.Needs = InputNeed{Kind: c.needs} })
				h.clearPrompt([]byte("a"), true)
				s.feedOutput([]byte("a"))
				printed := time.Now()
				h.onOutput(printed)
				if after := h.dueAt.Sub(printed); after != c.want {
					t.Errorf("%s: after %v; want %v", c.name, after, c.want)
				}
				h.pending = nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
