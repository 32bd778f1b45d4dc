package shell

// reads takes the kernel's word that the shell waits for a line, where its marks did not say
// so: the prompt's end went where it was not seen, or hooks and prompt were changed. What ran
// has ended, with the status that a mark told, if one did. Prompts keep their numbers, so
// that marks that come back are not taken for old ones.
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

// Repair is a line that puts the integration back into a shell that lost its hooks or marks,
// while its functions are still there; empty: there is none. It keeps the status of the line
// before it, so that the mark that follows tells that.
func Repair(k Kind) string {
	if k.Spec().repair == "" {
		return ""
	}
	return " __longterm_was=$?; " + k.Spec().repair + "; (exit $__longterm_was)"
}
