package shell

// reads handles the kernel's report that the shell waits for a line, without marks for it: the prompt's end was missed,
// or hooks and prompt were changed. The command has ended, with the status of a mark, if any. Prompts keep their
// numbers, so that later marks are not taken for old ones.
func (t *Tracker) reads(e Event) []Change {
	if t.s.Phase == PhasePrompt && !t.s.Continuation {
		return nil
	}
	if d := t.s.Doubt; d != nil && d.Prompt != nil && d.Prompt.Prompt > t.s.Prompt {
		m := *d.Prompt
		m.Late, m.Input = false, false
		return t.prompt(Event{Kind: EventMark, At: d.At, Time: d.Time, Mark: m})
	}
	said := t.s.Drawing || t.s.Done
	var changes []Change
	if t.s.Running != nil {
		changes = t.abandon(e)
		if t.s.Cwd.Path != "" && said {
			changes[0].Command.CwdAfter = t.s.Cwd.Path
		}
	}
	t.s.InputAt, t.s.Drawing, t.s.Continuation = e.At, false, false
	t.s.Typed, t.s.Doubt, t.s.Sentinel = nil, nil, ""
	if !said {
		t.s.Quality = None
	}
	t.phase(PhasePrompt, e)
	return append(changes, Change{Kind: ChangePrompt})
}

// Repair returns a line that restores the integration in a shell that lost its hooks or marks, while its functions
// still exist, or "". It keeps the status of the line before it, which the next mark reports.
func Repair(k Kind) string {
	if k.Spec().repair == "" {
		return ""
	}
	return " __longterm_was=$?; " + k.Spec().repair + "; (exit $__longterm_was)"
}
