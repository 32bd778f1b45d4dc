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
	uses := make([]use, len(from))
	for i, old := range from {
		uses[i].Since = e.now
		if old >= 0 && old < len(e.uses) {
			uses[i], to[old] = e.uses[old], i
		}
	}
	e.move(to)
	e.set, e.uses = c, uses
	e.match.next = make([][]int, len(uses))
	for e.turn = 0; c.Ordered && e.turn < len(uses) && e.isUsedUp(e.turn); {
		e.turn++
	}
	e.rematch()
	return e.pump(), nil
}

// move updates the rule indices in the engine's state.
func (e *Engine) move(to map[int]int) {
	e.redraws.drawn = reindex(e.redraws.drawn, to, func(d *drawn) *int { return &d.Rule })
	e.screen.shown = reindex(e.screen.shown, to, func(s *shown) *int { return &s.Rule })
	e.queue = reindex(e.queue, to, func(j *job) *int { return &j.Rule })
}

// reindex returns a list with the new indices, without entries of removed rules.
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
	e.done = e.exited || !slices.ContainsFunc(e.uses, func(u use) bool { return !u.Over })
	if e.done {
		return
	}
	if e.text != nil && e.text.isUnfinished() {
		e.touch(e.now)
	}
	if e.screen.last != nil {
		e.matchScreen()
	}
}

// MarkAnswered records that the current prompt was answered by input that the engine did not see.
func (e *Engine) MarkAnswered(now time.Time) {
	e.advance(now)
	if e.text != nil {
		w := e.text.current()
		e.text.markAnswered(w.text, len(w.text))
	}
}

// Skip processes old output: nothing in its complete lines fires. Its unfinished line counts as output that came now.
func (e *Engine) Skip(now time.Time, off uint64, data []byte) []Action {
	e.skipping = true
	defer func() { e.skipping = false }()
	return e.Output(now, off, data)
}

// Pass processes output in which nothing may fire, such as that of a line editor.
func (e *Engine) Pass(now time.Time, off uint64, data []byte) []Action {
	acts := e.Skip(now, off, data)
	if e.text != nil {
		w := e.text.current()
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
