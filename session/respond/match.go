package respond

import (
	"strconv"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// matcher holds the buffers for matching a window.
type matcher struct {
	next [][]int // by rule: its first match at or after where matching stands
}

// matchWindow fires the matches in the unread part of a window, and returns the start of the unread part after them.
func (e *Engine) matchWindow(w *window) int {
	var masked []echodetect.Span
	if e.echoes.Pending() {
		masked = e.echoes.Mask(w.line(e.cols, e.echo))
	}
	rules := e.set.filter.candidates(w.text[w.from:])
	if w.shown != nil {
		rules = e.set.redacted
	}
	if len(rules) == 0 {
		return w.from
	}
	read := w.from
	eachGap(masked, w.from, len(w.text), func(from, to int) {
		e.matchSpan(w.text[:to], w.shown, from, w.ends(from, to), rules, func(i int) bool {
			return e.eligible(i) && !e.set.rules[i].screen && (!w.complete || e.set.rules[i].On != OnPrompt)
		}, func(i int, text []byte, loc []int) {
			read = loc[1]
			e.fire(i, text, loc, w.offset, nil)
		})
	})
	return read
}

// eachGap calls f for the stretches from from to to between the spans.
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

// matchSpan calls fire for each match in text[from:], in the order of their positions, and of their rules at the same
// position. Each rule examines each byte once. Redacted rules examine shown, unless it is nil.
func (e *Engine) matchSpan(text, shown []byte, from, ends int, rules []int, eligible func(int) bool, fire func(i int, text []byte, loc []int)) {
	next := e.match.next
	for _, i := range rules {
		next[i] = unknown
	}
	for !e.done {
		best := -1
		for _, i := range rules {
			if !eligible(i) {
				continue
			}
			if seen, ends := e.seenBy(i, text, shown, ends); !e.advanceTo(seen, i, from, ends) {
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
		seen, _ := e.seenBy(best, text, shown, ends)
		fire(best, seen, loc)
		from, ends = loc[1], ends&^atStart
	}
}

// unknown marks a match that was not searched yet.
var unknown = []int{-1, -1}

// advanceTo finds a rule's first match at or after from.
func (e *Engine) advanceTo(text []byte, i, from, ends int) bool {
	loc := e.match.next[i]
	if from > len(text) { // nothing of the remaining text is shown
		loc, e.match.next[i] = nil, nil
	}
	if loc != nil && loc[0] < from {
		loc = shift(e.set.rules[i].pattern.find(text[from:], ends), from)
		e.match.next[i] = loc
	}
	return loc != nil
}

// eligible reports whether a rule may fire now.
func (e *Engine) eligible(i int) bool {
	r, u := &e.set.rules[i], &e.uses[i]
	switch {
	case u.Over, e.set.Ordered && i != e.turn, r.After && !e.isUsedUp(i-1):
		return false
	case r.Max > 0 && u.Count >= r.Max:
		return false
	}
	return !e.isCoolingDown(i)
}

// isUsedUp reports whether the rule that another rule waits for has fired often enough; true for -1.
func (e *Engine) isUsedUp(i int) bool {
	return i < 0 || e.uses[i].Count >= max(e.set.rules[i].Max, 1)
}

// isCoolingDown reports whether a rule is in its cooldown.
func (e *Engine) isCoolingDown(i int) bool {
	r, u := &e.set.rules[i], &e.uses[i]
	return r.CoolDown > 0 && u.Count > 0 && e.now.Before(u.Last.Add(r.CoolDown))
}

// fire fires a rule, unless the match is an answered prompt that was redrawn.
func (e *Engine) fire(i int, text []byte, loc []int, off uint64, row *uint64) {
	r := &e.set.rules[i]
	match := string(text[loc[0]:loc[1]])
	if row == nil {
		if e.redraws.isRedrawn(i, match) {
			return
		}
		e.redraws.add(i, match)
	}
	u := &e.uses[i]
	u.Count++
	u.Last, u.Awake = e.now, false
	e.firings++
	if u.Count == max(r.Max, 1) {
		if e.set.Ordered {
			e.turn++
		}
		if i+1 < len(e.uses) { // its turn may have come
			e.uses[i+1].Since = e.now
		}
	}
	if e.firings > e.set.MaxFirings {
		e.firings = 0 // the other rules count from zero
		e.fail(i, "answered "+strconv.Itoa(e.set.MaxFirings)+" times; is it a loop?")
		return
	}
	rec := &Record{Time: e.now, Rule: i, Name: r.Name, On: r.target(), Offset: off, Row: row,
		Match: match, Use: u.Count, Reply: r.expandReplies(text, loc)}
	e.out = append(e.out, Action{Kind: ActFired, Rule: i, Record: rec})
	e.queue = append(e.queue, job{Rule: i, Steps: rec.Reply, Captures: r.captures(text, loc)})
	e.pump() // at once: a failure ends rules before they look at the next line
}

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
			s.Value = r.pattern.expand(s.Value, text, loc, asKeys)
		case ReplyText, ReplyFail:
			s.Value = r.pattern.expand(s.Value, text, loc, asIs)
		}
		steps[i] = s
	}
	return steps
}

// captures returns the matches of the groups, for a hook.
func (r *compiledRule) captures(text []byte, loc []int) map[string]string {
	hook := false
	for _, s := range r.Reply {
		hook = hook || s.Kind == ReplyHook
	}
	if !hook {
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
