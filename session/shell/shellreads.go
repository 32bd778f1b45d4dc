package shell

// handleShellReads handles the kernel's report that the shell waits for a line, without marks for it: the prompt's end
// was missed, or hooks and prompt were changed. The command has ended, with the status of a mark, if any. Prompts keep
// their numbers, so that later marks are accepted.
func (t *Tracker) handleShellReads(e Event) []Change {
	if t.state.Phase == PhasePrompt && !t.state.InContinuation {
		return nil
	}
	if d := t.state.PossibleEnd; d != nil && d.LatePrompt != nil && d.LatePrompt.Prompt > t.state.Prompt {
		m := *d.LatePrompt
		m.Late, m.InputFollows = false, false
		return t.handlePrompt(Event{Kind: EventMark, At: d.At, Time: d.Time, Mark: m})
	}
	reported := t.state.IsDrawingPrompt || t.state.HasEnded
	var changes []Change
	if t.state.Running != nil {
		changes = t.abandonCommand(e)
		if t.state.Cwd.Path != "" && reported {
			changes[0].Command.CwdAfter = t.state.Cwd.Path
		}
	}
	t.state.InputAt, t.state.IsDrawingPrompt, t.state.InContinuation = e.At, false, false
	t.state.PendingLine, t.state.PossibleEnd, t.state.Sentinel = nil, nil, ""
	if !reported {
		t.state.Quality = None
	}
	t.setPhase(PhasePrompt, e)
	return append(changes, Change{Kind: ChangePrompt})
}

// RepairLine returns a line that restores the integration in a shell that lost its hooks or marks, while its functions
// still exist, or "". It keeps the status of the line before it, which the next mark reports.
func RepairLine(k Kind) string {
	if k.Spec().repair == "" {
		return ""
	}
	return " __longterm_was=$?; " + k.Spec().repair + "; (exit $__longterm_was)"
}
