package respond

import (
	"strconv"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// matchBuffers holds the buffers for matching a window.
type matchBuffers struct {
	nextMatch [][]int // by rule: its first match at or after the position of the search
}

// matchWindow accepts the matches in the unread part of a window. It returns the end of the last match: what follows
// stays unread.
func (e *Engine) matchWindow(w *window) int {
	var masked []echodetect.Span
	if e.echoes.HasPending() {
		masked = e.echoes.EchoSpans(w.echoLine(e.cols, e.echo))
	}
	rules := e.set.filter.candidates(w.text[w.unread:])
	if w.redacted != nil {
		rules = e.set.redacted
	}
	if len(rules) == 0 {
		return w.unread
	}
	read := w.unread
	eachGap(masked, w.unread, len(w.text), func(from, to int) {
		e.matchRange(w.text[:to], w.redacted, from, w.lineEnds(from, to), rules, func(i int) bool {
			return e.canMatch(i) && !e.set.rules[i].matchesScreen && (!w.isComplete || e.set.rules[i].On != OnPrompt)
		}, func(i int, text []byte, loc []int) {
			read = loc[1]
			e.acceptMatch(i, text, loc, w.offset, nil)
		})
	})
	return read
}

// eachGap calls f for the parts of [from, to) between the spans.
func eachGap(masked []echodetect.Span, from, to int, f func(from, to int)) {
	for _, m := range masked {
		if m.From > from {
			f(from, m.From)
		}
		from = max(from, m.To)
	}
	if from < to {
		f(from, to)
	}
}

// matchRange calls accept for each match in text[from:], in the order of their positions, and of their rules at the
// same position. Each rule examines each byte once. Redacted rules examine redacted instead of text, unless it is nil.
func (e *Engine) matchRange(text, redacted []byte, from, ends int, rules []int, canMatch func(int) bool, accept func(i int, text []byte, loc []int)) {
	next := e.matchBuffers.nextMatch
	for _, i := range rules {
		next[i] = notSearched
	}
	for !e.done {
		best := -1
		for _, i := range rules {
			if !canMatch(i) {
				continue
			}
			if seen, ends := e.textForRule(i, text, redacted, ends); !e.findNext(seen, i, from, ends) {
				continue
			}
			if best < 0 || next[i][0] < next[best][0] {
				best = i
			}
		}
		if best < 0 {
			return
		}
		loc := next[best]
		seen, _ := e.textForRule(best, text, redacted, ends)
		accept(best, seen, loc)
		from, ends = loc[1], ends&^atStart
	}
}

// notSearched marks a rule whose next match was not searched yet.
var notSearched = []int{-1, -1}

// findNext sets a rule's first match at or after from. It returns false without a match.
func (e *Engine) findNext(text []byte, i, from, ends int) bool {
	loc := e.matchBuffers.nextMatch[i]
	if from > len(text) { // redaction removed the remaining text
		loc, e.matchBuffers.nextMatch[i] = nil, nil
	}
	if loc != nil && loc[0] < from {
		loc = shiftOffsets(e.set.rules[i].pattern.find(text[from:], ends), from)
		e.matchBuffers.nextMatch[i] = loc
	}
	return loc != nil
}

// canMatch reports whether a rule is active: not ended, its turn, not used up and not cooling down.
func (e *Engine) canMatch(i int) bool {
	r, u := &e.set.rules[i], &e.ruleStates[i]
	switch {
	case u.Ended, e.set.Ordered && i != e.nextOrdered, r.AfterPrevious && !e.isUsedUp(i-1):
		return false
	case r.Max > 0 && u.Matches >= r.Max:
		return false
	}
	return !e.isCoolingDown(i)
}

// isUsedUp reports whether rule i has matched often enough to activate the rule after it. True for -1.
func (e *Engine) isUsedUp(i int) bool {
	return i < 0 || e.ruleStates[i].Matches >= max(e.set.rules[i].Max, 1)
}

// isCoolingDown reports whether a rule is in its cooldown.
func (e *Engine) isCoolingDown(i int) bool {
	r, u := &e.set.rules[i], &e.ruleStates[i]
	return r.CoolDown > 0 && u.Matches > 0 && e.now.Before(u.LastMatch.Add(r.CoolDown))
}

// acceptMatch counts and records a match and queues the rule's replies, unless the match is an answered prompt that was
// redrawn.
func (e *Engine) acceptMatch(i int, text []byte, loc []int, off uint64, row *uint64) {
	r := &e.set.rules[i]
	match := string(text[loc[0]:loc[1]])
	if row == nil {
		if e.redraws.isRedrawn(i, match) {
			return
		}
		e.redraws.add(i, match)
	}
	u := &e.ruleStates[i]
	u.Matches++
	u.LastMatch, u.RecheckedAfterCoolDown = e.now, false
	e.matches++
	if u.Matches == max(r.Max, 1) {
		if e.set.Ordered {
			e.nextOrdered++
		}
		if i+1 < len(e.ruleStates) { // its turn may have come
			e.ruleStates[i+1].WaitingSince = e.now
		}
	}
	if e.matches > e.set.MaxMatches {
		e.matches = 0 // the other rules count from zero
		e.failList(i, "answered "+strconv.Itoa(e.set.MaxMatches)+" times; is it a loop?")
		return
	}
	rec := &Record{Time: e.now, Rule: i, Name: r.Name, On: r.target(), Offset: off, Row: row,
		Match: match, MatchNumber: u.Matches, Reply: r.expandReplies(text, loc)}
	e.actions = append(e.actions, Action{Kind: ActMatched, Rule: i, Record: rec})
	e.queue = append(e.queue, replyQueue{Rule: i, Steps: rec.Reply, Captures: r.captures(text, loc)})
	e.runReplies() // at once: a failure must end rules before they match the next line
}

// target returns the place of the match, with the default.
func (r *Rule) target() Target {
	if r.On == "" {
		return OnOutput
	}
	return r.On
}

// expandReplies returns a rule's replies with the captures in them.
func (r *compiledRule) expandReplies(text []byte, loc []int) []Reply {
	steps := make([]Reply, len(r.Reply))
	for i, s := range r.Reply {
		switch s.Kind {
		case ReplyKeys:
			s.Value = r.pattern.expand(s.Value, text, loc, quoteKeys)
		case ReplyText, ReplyFail:
			s.Value = r.pattern.expand(s.Value, text, loc, quoteNone)
		}
		steps[i] = s
	}
	return steps
}

// captures returns the matches of the groups by number and name, or nil if no reply is a hook.
func (r *compiledRule) captures(text []byte, loc []int) map[string]string {
	hasHook := false
	for _, s := range r.Reply {
		hasHook = hasHook || s.Kind == ReplyHook
	}
	if !hasHook {
		return nil
	}
	c := make(map[string]string)
	for i, name := range r.pattern.names {
		if 2*i+1 >= len(loc) || loc[2*i] < 0 {
			continue
		}
		got := string(text[loc[2*i]:loc[2*i+1]])
		c[strconv.Itoa(i)] = got
		if name != "" {
			c[name] = got
		}
	}
	return c
}
