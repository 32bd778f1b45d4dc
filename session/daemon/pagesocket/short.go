//go:build unix

package pagesocket

import (
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// What a page is told with every line that is typed is told in short to those that read that: text that begins with a
// sign that neither objects nor thin frames begin with (docs/web-protocol.md, "Short messages"). Numbers are in base 36.
const (
	shortAsks     = '!' // of an event: of which number, how long it has run, and what it asks for
	shortProgress = '%' // of an event: of which number, how long it has run, and how far it is
	shortOK       = '=' // of a subscription: up to which message what was typed is typed
)

// asked is what a page knows of a session that asks.
type asked struct {
	needs    api.Needs // what it asked last, though it may ask nothing by now; the zero value: nothing yet
	activity *api.Activity
}

// otherwise stands in place of a hash, of which it is none: the page knows of this member, and it was not looked at what.
const otherwise = 2

// note notes what was told of a session with an event.
func (c *changes) note(e *api.Event) {
	id := e.Session.ID
	c.last, c.seq = id, e.Seq
	v := c.asked[id]
	if v.activity = e.Session.Activity; e.Session.Needs != nil {
		v.needs = *e.Session.Needs
	}
	c.asked[id] = v
}

// short appends an event in short; ok: that is all that is to be told of it. It is of the session that was told of last,
// given as JSON, too.
func (c *changes) short(dst []byte, e *api.Event, session []byte) (out []byte, ok bool) {
	v := *e
	v.Session = nil
	if c.told[e.Session.ID] == nil || c.last != e.Session.ID || e.Seq <= c.seq || !reflect.DeepEqual(v, api.Event{Seq: e.Seq, Kind: e.Kind}) {
		return dst, false
	}
	var tells []string
	switch e.Kind {
	case "input":
		tells = inputMembers
		out, ok = c.asks(dst, e)
	case "progress":
		tells = progressMembers
		out, ok = c.progress(dst, e, session)
	}
	if !ok {
		return dst, false
	}
	hashes := c.told[e.Session.ID]
	for i, name := range memberNames {
		if slices.Contains(tells, name) {
			hashes[i] = otherwise
		}
	}
	c.note(e)
	return out, true
}

// asks appends what a session asks for, or that it asks for nothing any more.
func (c *changes) asks(dst []byte, e *api.Event) (out []byte, ok bool) {
	s, was := e.Session, c.asked[e.Session.ID]
	if !sameActivity(was.activity, s.Activity) {
		return dst, false
	}
	dst = append(strconv.AppendUint(append(dst, shortAsks), e.Seq-c.seq, 36), ',')
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

// progressMembers are what is told in short of an event of the kind progress. When last something was printed is then.
var progressMembers = []string{"progress", "activity", "last_output"}

// progress appends how far what runs in a session is, if nothing else is new.
func (c *changes) progress(dst []byte, e *api.Event, session []byte) (out []byte, ok bool) {
	a, was := e.Session.Activity, c.asked[e.Session.ID].activity
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

// knows says whether the page has been told all of a session, given as JSON, but some of its members and what no page shows.
func (c *changes) knows(id string, session []byte, but []string) bool {
	hashes, ok := c.told[id], true
	seen := make([]bool, len(memberNames))
	members(session, func(name string, value []byte) {
		i := slices.Index(memberNames, name)
		if i < 0 {
			return
		}
		seen[i] = true
		ok = ok && (slices.Contains(but, name) || !told(name, nil) || maphash.Bytes(seed, value)|1 == hashes[i])
	})
	for i, name := range memberNames {
		ok = ok && (seen[i] || hashes[i] == 0 || slices.Contains(but, name) || !told(name, nil))
	}
	return ok
}

// sameActivity says whether two differ by how long it has been at most.
func sameActivity(a, b *api.Activity) bool {
	if a == nil || b == nil {
		return a == b
	}
	x := *a
	x.ElapsedMS = b.ElapsedMS
	return reflect.DeepEqual(x, *b)
}

// okAfter is how long it may take until it is told that something was typed: by then more was.
const okAfter = time.Second

// took tells that what was typed arrived: at once where it is judged, as what the page says again after its connection
// broke would be judged again.
func (p *sub) took(q int64) {
	if !p.c.terse || q < 0 || actor.Of(p.ctx).IsAgent() {
		_ = p.c.say(said{T: "ok", Q: &q})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed = q; p.telling {
		return
	}
	p.telling = true
	time.AfterFunc(okAfter, func() {
		p.mu.Lock()
		q := p.typed
		p.telling = false
		p.mu.Unlock()
		if p.c.ctx.Err() == nil { // also of a session that is not shown any more
			_ = p.c.write(func(dst []byte) []byte {
				dst = append(strconv.AppendInt(append(dst, shortOK), int64(p.id), 36), ',')
				return strconv.AppendInt(dst, q, 36)
			})
		}
	})
}
