package respond

import (
	"fmt"
	"slices"
	"time"
)

// Change replaces the rules. from[i] is the old index of rule i of the new set, or -1 if it is new. Answered prompts
// stay answered. Unread output is matched with the new rules.
func (e *Engine) Change(now time.Time, set Set, from []int) ([]Action, error) {
	c, err := compile(set)
	if err != nil {
		return nil, err
	}
	if len(from) != len(c.rules) {
		return nil, fmt.Errorf("%d rules, and %d places they come from", len(c.rules), len(from))
	}
	e.advance(now)
	to := make(map[int]int, len(from)) // old index to new
	uses := make([]ruleState, len(from))
	for i, old := range from {
		uses[i].WaitingSince = e.now
		if old >= 0 && old < len(e.ruleStates) {
			uses[i], to[old] = e.ruleStates[old], i
		}
	}
	e.remapRules(to)
	e.set, e.ruleStates = c, uses
	e.matchBuffers.nextMatch = make([][]int, len(uses))
	for e.nextOrdered = 0; c.Ordered && e.nextOrdered < len(uses) && e.isUsedUp(e.nextOrdered); {
		e.nextOrdered++
	}
	e.rematch()
	return e.runReplies(), nil
}

// remapRules updates the rule indices in the engine's state, by a map from old to new.
func (e *Engine) remapRules(to map[int]int) {
	e.redraws.prompts = reindex(e.redraws.prompts, to, func(d *answeredPrompt) *int { return &d.Rule })
	e.screen.answered = reindex(e.screen.answered, to, func(s *screenMatch) *int { return &s.Rule })
	e.queue = reindex(e.queue, to, func(j *replyQueue) *int { return &j.Rule })
}

// reindex returns a list with the new rule indices, without entries of removed rules.
func reindex[T any](list []T, to map[int]int, rule func(*T) *int) []T {
	kept := list[:0]
	for i := range list {
		at, ok := to[*rule(&list[i])]
		if *rule(&list[i]) = at; ok {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// rematch matches the current line and screen.
func (e *Engine) rematch() {
	e.done = e.exited || !slices.ContainsFunc(e.ruleStates, func(u ruleState) bool { return !u.Ended })
	if e.done {
		return
	}
	if e.text != nil && e.text.isUnfinished() {
		e.noteUnfinishedChange(e.now)
	}
	if e.screen.last != nil {
		e.matchScreen()
	}
}

// MarkAnswered records that the current prompt was answered by input that the engine did not receive.
func (e *Engine) MarkAnswered(now time.Time) {
	e.advance(now)
	if e.text != nil {
		w := e.text.unfinished()
		e.text.markAnswered(w.text, len(w.text))
	}
}

// Skip processes old output: its complete lines match nothing. Its unfinished line counts as output that came now.
func (e *Engine) Skip(now time.Time, off uint64, data []byte) []Action {
	e.skipMatches = true
	defer func() { e.skipMatches = false }()
	return e.Output(now, off, data)
}

// SkipAll processes output that matches nothing, such as the drawing of a line editor.
func (e *Engine) SkipAll(now time.Time, off uint64, data []byte) []Action {
	acts := e.Skip(now, off, data)
	if e.text != nil {
		w := e.text.unfinished()
		e.text.markAnswered(w.text, len(w.text))
		e.dirty = false
	}
	return acts
}

// LineStart returns the offset at which the unfinished line starts.
func (e *Engine) LineStart() uint64 {
	if e.text == nil {
		return 0
	}
	return e.text.begin
}
