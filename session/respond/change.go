package respond

import (
	"fmt"
	"slices"
	"time"
)

// Change replaces the rules; from[i] is the index that rule i of the new set has had, -1
// if it is new. What was answered stays answered. What stands there unread is looked at
// with the new rules.
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
	for e.turn = 0; c.Ordered && e.turn < len(uses) && e.spent(e.turn); {
		e.turn++
	}
	e.lookAgain()
	return e.pump(), nil
}

// move gives everything that names a rule the rule's new index.
func (e *Engine) move(to map[int]int) {
	e.redraws.drawn = moved(e.redraws.drawn, to, func(d *drawn) *int { return &d.Rule })
	e.screen.shown = moved(e.screen.shown, to, func(s *shown) *int { return &s.Rule })
	e.queue = moved(e.queue, to, func(j *job) *int { return &j.Rule })
}

// moved is a list with the new indices, without what names a rule that is gone.
func moved[T any](list []T, to map[int]int, rule func(*T) *int) []T {
	kept := list[:0]
	for i := range list {
		at, ok := to[*rule(&list[i])]
		if *rule(&list[i]) = at; ok {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// lookAgain has rules look at what is there already.
func (e *Engine) lookAgain() {
	e.done = e.exited || !slices.ContainsFunc(e.uses, func(u use) bool { return !u.Over })
	if e.done {
		return
	}
	if e.text != nil && e.text.unfinished() {
		e.touch(e.now)
	}
	if e.screen.last != nil {
		e.matchScreen()
	}
}

// Answered tells that what stands there has been answered in a way the engine was not
// told of.
func (e *Engine) Answered(now time.Time) {
	e.advance(now)
	if e.text != nil {
		w := e.text.current()
		e.text.answered(w.text, len(w.text))
	}
}

// Skip takes output that is old: nothing in its complete lines fires. What is there of an
// unfinished line counts as output that came now.
func (e *Engine) Skip(now time.Time, off uint64, data []byte) []Action {
	e.skipping = true
	defer func() { e.skipping = false }()
	return e.Output(now, off, data)
}

// Pass takes output in which nothing is to fire: what a line editor prints, say.
func (e *Engine) Pass(now time.Time, off uint64, data []byte) []Action {
	acts := e.Skip(now, off, data)
	if e.text != nil {
		w := e.text.current()
		e.text.answered(w.text, len(w.text))
		e.dirty = false
	}
	return acts
}

// LineStart is the offset where the line that is not complete begins.
func (e *Engine) LineStart() uint64 {
	if e.text == nil {
		return 0
	}
	return e.text.begin
}
