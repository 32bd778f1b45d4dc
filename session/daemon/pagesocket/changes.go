//go:build unix

package pagesocket

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// maxKnown bounds the number of sessions whose reported members are remembered, at about 400 bytes each.
const maxKnown = 256

// changes reduces events to the members that the page does not know yet. Only the goroutine that writes events uses it.
type changes struct {
	known map[string][]uint64 // by session, hashes of its members; 0: absent
	last  string              // session of the last reported event
	seq   uint64              // of that event; 0: of none
	// per session in known, what short messages can refer to
	knownInputs map[string]knownInput
}

// seed is the seed of the hashes of members.
var seed = maphash.MakeSeed()

// memberNames are the JSON members of a session, in order.
var memberNames = func() (names []string) {
	for f := range reflect.TypeFor[api.Session]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// setAll records that the page receives all members of a session, given as JSON.
func (c *changes) setAll(id string, session []byte) {
	if c.known[id] == nil && len(c.known) >= maxKnown {
		clear(c.known)
		clear(c.knownInputs)
	}
	if c.known == nil {
		c.known, c.knownInputs = map[string][]uint64{}, map[string]knownInput{}
	}
	hashes := make([]uint64, len(memberNames))
	members(session, func(name string, value []byte) {
		if i := slices.Index(memberNames, name); i >= 0 {
			hashes[i] = maphash.Bytes(seed, value) | 1
		}
	})
	c.known[id] = hashes
}

// change appends the members of a session that differ from those that the page knows, and null for removed ones. ok is
// false if the page's state is unknown. If only is not empty, other members are left out.
func (c *changes) change(dst []byte, id string, session []byte, only ...string) (out []byte, ok bool) {
	hashes := c.known[id]
	if hashes == nil {
		return dst, false
	}
	dst = append(dst, '{')
	from := len(dst)
	add := func(name string, value []byte) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(append(append(append(dst, '"'), name...), `":`...), value...)
	}
	seen := make([]bool, len(memberNames))
	members(session, func(name string, value []byte) {
		i := slices.Index(memberNames, name)
		if i < 0 {
			return
		}
		seen[i] = true
		if h := maphash.Bytes(seed, value) | 1; h != hashes[i] && isSent(name, only) {
			hashes[i] = h
			add(name, value)
		}
	})
	for i, name := range memberNames {
		if !seen[i] && hashes[i] != 0 && isSent(name, only) {
			hashes[i] = 0
			add(name, []byte("null"))
		}
	}
	return append(dst, '}'), true
}

// unshownMembers change with all output, and no page shows them. They are sent once per session.
var unshownMembers = []string{"version", "duration_ms", "output"}

// inputMembers are the members of input events.
var inputMembers = []string{"needs_input", "activity"}

// isSent reports whether a member is among those to send.
func isSent(name string, only []string) bool {
	if len(only) > 0 {
		return slices.Contains(only, name)
	}
	return !slices.Contains(unshownMembers, name)
}

// forget drops what the page knows of a session, or of all if id is empty.
func (c *changes) forget(id string) {
	delete(c.knownInputs, id)
	if delete(c.known, id); id == "" {
		clear(c.known)
		clear(c.knownInputs)
		c.last, c.seq = "", 0
	}
}

// members calls f with each member of an object that json.Marshal made of a struct: its name has nothing escaped.
func members(object []byte, f func(name string, value []byte)) {
	for b := object[1:]; len(b) > 1; {
		name, value, _ := bytes.Cut(b[1:], []byte(`":`))
		b = value
		n := valueLen(b)
		f(string(name), b[:n])
		b = b[n:]
		if len(b) > 0 && b[0] == ',' {
			b = b[1:]
		}
	}
}

// valueLen returns the length of the first JSON value in b.
func valueLen(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == '}'):
			return i
		}
	}
	return len(b)
}

// writeEvent sends an event with the members of its session that the page does not know.
func (c *conn) writeEvent(e *api.Event) error {
	if !c.partialFrames || e.Session == nil {
		c.changes.seq = e.Seq
		return c.send(struct {
			T     string     `json:"t"`
			Event *api.Event `json:"event"`
		}{"event", e})
	}
	session, err := json.Marshal(e.Session)
	if err != nil {
		return err
	}
	if c.shortMessages {
		if short, ok := c.changes.short(nil, e, session); ok {
			return c.write(func(dst []byte) []byte { return append(dst, short...) })
		}
	}
	id, kind := e.Session.ID, `{"t":"event","event":`
	var only []string
	if e.Kind == "input" {
		only = inputMembers
	}
	if part, known := c.changes.change(nil, id, session, only...); known && e.Kind != "removed" {
		session, kind = part, `{"t":"e","event":`
		if id != c.changes.last {
			kind = `{"t":"e","s":"` + id + `","event":`
		}
	} else {
		c.changes.setAll(id, session)
	}
	if c.changes.note(e); e.Kind == "removed" {
		c.changes.forget(id)
	}
	v := *e
	v.Session = nil
	rest, err := json.Marshal(&v)
	if err != nil {
		return err
	}
	return c.write(func(dst []byte) []byte {
		dst = append(append(dst, kind...), rest[:len(rest)-1]...)
		return append(append(append(dst, `,"session":`...), session...), "}}"...)
	})
}
