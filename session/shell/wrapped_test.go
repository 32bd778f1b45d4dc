package shell

import "testing"

// TestWrappedLine_EndsAtThePrompt_WhenTheShellSendsMarks checks that a wrapped line ends at the prompt after it: only
// then are the directory and the environment those of the line.
// FAULT: H27
func TestWrappedLine_EndsAtThePrompt_WhenTheShellSendsMarks(t *testing.T) {
	nonce, token := NewNonce(), NewNonce()
	zero, four := 0, 4
	tr := NewTracker(Launch{Nonce: nonce, Quality: Basic, Cwd: "/a"})
	tr.Apply(Event{Kind: EventMark, At: 1, Mark: Mark{Kind: MarkPrompt, Nonce: nonce, Sequence: 2, Prompt: 1, Exit: &zero, Cwd: "/a"}})
	tr.Apply(Event{Kind: EventSentinel, At: 1, Text: token})
	tr.Apply(Event{Kind: EventTyped, At: 1, Text: "cd /b\n(exit 4)"})
	tr.Apply(Event{Kind: EventMark, At: 2, Mark: Mark{Kind: MarkOutput, Nonce: token}})
	for _, c := range tr.Apply(Event{Kind: EventMark, At: 3, Mark: Mark{Kind: MarkDone, Nonce: token, Exit: &four}}) {
		if c.Kind == ChangeFinished {
			t.Error("the line has ended before the prompt")
		}
	}
	for _, c := range tr.Apply(Event{Kind: EventMark, At: 4, Mark: Mark{Kind: MarkPrompt, Nonce: nonce, Sequence: 4, Prompt: 2, Exit: &four, Cwd: "/b"}}) {
		if c.Kind == ChangeFinished {
			if c.Command.CwdAfter != "/b" || c.Command.Exit == nil || *c.Command.Exit != 4 || c.Command.End != 3 {
				t.Errorf("got command %+v", c.Command)
			}
			return
		}
	}
	t.Error("the prompt does not end the line")
}
