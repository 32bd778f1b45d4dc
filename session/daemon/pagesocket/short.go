//go:build unix

package pagesocket

import (
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// Short messages replace events that occur with every typed line, for pages that support them. They start with a
// character that starts neither JSON objects nor short frames (docs/web-protocol.md, "Short messages"). Numbers are in
// base 36.
const (
	shortInput    = '!' // event: number, elapsed time and requested input
	shortProgress = '%' // event: number, elapsed time and progress
	shortOK       = '=' // acknowledges a subscription's input up to a message
)

// knownInput is what a page knows of a session's needed input.
type knownInput struct {
	needs    api.InputRequest // last needed input, also if no longer needed; the zero value: none yet
	activity *api.Activity
}

// unhashed is stored instead of a hash: the page knows the member, but its value was not hashed.
const unhashed = 2

// note records what an event reported about its session.
func (c *changes) note(e *api.Event) {
	id := e.Session.ID
	c.last, c.seq = id, e.Seq
	v := c.knownInputs[id]
	if v.activity = e.Session.Activity; e.Session.Needs != nil {
		v.needs = *e.Session.Needs
	}
	c.knownInputs[id] = v
}

// short appends an event as a short message. ok is false if the message would not cover it. The event must belong to
// the session reported last, which is also given as JSON.
func (c *changes) short(dst []byte, e *api.Event, session []byte) (out []byte, ok bool) {
	v := *e
	v.Session = nil
	if c.known[e.Session.ID] == nil || c.last != e.Session.ID || e.Seq <= c.seq || !reflect.DeepEqual(v, api.Event{Seq: e.Seq, Kind: e.Kind}) {
		return dst, false
	}
	var covered []string
	switch e.Kind {
	case "input":
		covered = inputMembers
		out, ok = c.appendNeeds(dst, e)
	case "progress":
		covered = progressMembers
		out, ok = c.progress(dst, e, session)
	}
	if !ok {
		return dst, false
	}
	hashes := c.known[e.Session.ID]
	for i, name := range memberNames {
		if slices.Contains(covered, name) {
			hashes[i] = unhashed
		}
	}
	c.note(e)
	return out, true
}

// appendNeeds appends the requested input of a session, or nothing if it no longer needs any.
func (c *changes) appendNeeds(dst []byte, e *api.Event) (out []byte, ok bool) {
	s, was := e.Session, c.knownInputs[e.Session.ID]
	if !sameActivity(was.activity, s.Activity) {
		return dst, false
	}
	dst = append(strconv.AppendUint(append(dst, shortInput), e.Seq-c.seq, 36), ',')
	if s.Activity != nil {
		dst = strconv.AppendInt(dst, s.Activity.ElapsedMS, 36)
	}
	if n := s.Needs; n != nil {
		if dst = append(dst, ','); n.Kind != was.needs.Kind || n.Reason != was.needs.Reason || n.Prompt != was.needs.Prompt {
			kind := n.Kind
			if n.Prompt { // which is all that the page asks
				kind = "prompt"
			}
			dst = append(append(append(dst, kind...), ','), n.Reason...)
		}
	}
	return dst, true
}

// progressMembers are the members that a short progress event covers. The time of the last output is that of the event.
var progressMembers = []string{"progress", "activity", "last_output"}

// progress appends the progress of a session's program, if nothing else is new.
func (c *changes) progress(dst []byte, e *api.Event, session []byte) (out []byte, ok bool) {
	a, was := e.Session.Activity, c.knownInputs[e.Session.ID].activity
	if a == nil || was == nil || !a.Running || a.Progress == nil || a.Progress.State != "normal" {
		return dst, false
	}
	x := *was
	x.ElapsedMS, x.Progress, x.Errors, x.Warnings, x.ETAMS, x.Due = a.ElapsedMS, a.Progress, a.Errors, a.Warnings, a.ETAMS, a.Due
	if !reflect.DeepEqual(x, *a) || !c.knows(e.Session.ID, session, progressMembers) {
		return dst, false
	}
	dst = strconv.AppendUint(append(dst, shortProgress), e.Seq-c.seq, 36)
	for _, n := range []int64{a.ElapsedMS, int64(a.Progress.Percent), int64(a.Errors), int64(a.Warnings)} {
		dst = strconv.AppendInt(append(dst, ','), n, 36)
	}
	if a.Due != nil {
		dst = strconv.AppendInt(append(dst, ','), a.Due.UnixMilli(), 36)
	}
	return dst, true
}

// knows reports whether the page knows all members of a session, given as JSON, except those in but and those that no
// page shows.
func (c *changes) knows(id string, session []byte, but []string) bool {
	hashes, ok := c.known[id], true
	seen := make([]bool, len(memberNames))
	members(session, func(name string, value []byte) {
		i := slices.Index(memberNames, name)
		if i < 0 {
			return
		}
		seen[i] = true
		ok = ok && (slices.Contains(but, name) || !isSent(name, nil) || maphash.Bytes(seed, value)|1 == hashes[i])
	})
	for i, name := range memberNames {
		ok = ok && (seen[i] || hashes[i] == 0 || slices.Contains(but, name) || !isSent(name, nil))
	}
	return ok
}

// sameActivity reports whether two activities differ by their elapsed time at most.
func sameActivity(a, b *api.Activity) bool {
	if a == nil || b == nil {
		return a == b
	}
	x := *a
	x.ElapsedMS = b.ElapsedMS
	return reflect.DeepEqual(x, *b)
}

// ackDelay delays the acknowledgement of input, so that one message covers later input too.
const ackDelay = time.Second

// acknowledgeInput acknowledges input. Input of agents is acknowledged at once, because a page that reconnects sends
// unacknowledged input again, and that would request approval again.
func (p *sub) acknowledgeInput(q int64) {
	if !p.c.shortMessages || q < 0 || identity.Of(p.ctx).IsAgent() {
		_ = p.c.send(reply{T: "ok", Q: &q})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed = q; p.ackPending {
		return
	}
	p.ackPending = true
	time.AfterFunc(ackDelay, func() {
		p.mu.Lock()
		q := p.typed
		p.ackPending = false
		p.mu.Unlock()
		if p.c.ctx.Err() == nil { // also if the session is no longer shown
			_ = p.c.write(func(dst []byte) []byte {
				dst = append(strconv.AppendInt(append(dst, shortOK), int64(p.id), 36), ',')
				return strconv.AppendInt(dst, q, 36)
			})
		}
	})
}
