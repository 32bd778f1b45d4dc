package authorize

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestApproval_OffersAnswersItTakes checks that an approval offers the answers that it takes, and the hint of another
// answer names them.
//
// FAULT: G21
func TestApproval_OffersAnswersItTakes(t *testing.T) {
	g := open(t, t.TempDir())
	command := line("job-1", "$P", agent)
	command.Kind, command.Session, command.Name = Command, "", ""
	ruled := line("job-2", "git config user.email x", agent)
	for _, c := range []struct {
		ask   Request
		want  []string
		hints map[string]string // by the rejected answer
	}{
		{command, []string{"once", "reject"}, map[string]string{"session": "answer once", "always": "answer once"}},
		{line("job-3", "$P", agent), []string{"once", "session", "reject"}, map[string]string{"always": "answer once or session"}},
		{ruled, []string{"once", "session", "always", "reject"}, nil},
	} {
		c.ask.Policy = "build"
		p := waiting(t, g, c.ask)
		v := p.Approval()
		if got := v.Answers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.ask.ID, got)
		}
		for answer, hint := range c.hints {
			_, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: answer})
			var e *api.Error
			if !errors.As(err, &e) || strings.TrimSuffix(e.Hint, ", or give a rule yourself (--rule)") != hint {
				t.Errorf("%s, %s: %+v", c.ask.ID, answer, e)
			}
		}
	}
}
