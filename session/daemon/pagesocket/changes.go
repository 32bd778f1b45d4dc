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

// maxKnown bounds the sessions of which it is known what the page was told, at some 400 bytes each.
const maxKnown = 256

// changes says of events what the page was not told of their sessions yet. It belongs to who tells the page.
type changes struct {
	told map[string][]uint64 // by session, hashes of its members; 0: absent
	last string              // session of the event that was told last
	seq  uint64              // of that event; 0: of none
	// asked is what the page knows of the sessions in told that can be told in short.
	asked map[string]asked
}

var seed = maphash.MakeSeed()

// memberNames are the members of a session, in the order in which they are told.
var memberNames = func() (names []string) {
	for f := range reflect.TypeFor[api.Session]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// whole notes that the page is told all of a session, given as JSON.
func (c *changes) whole(id string, session []byte) {
	if c.told[id] == nil && len(c.told) >= maxKnown {
		clear(c.told)
		clear(c.asked)
	}
	if c.told == nil {
		c.told, c.asked = map[string][]uint64{}, map[string]asked{}
	}
	hashes := make([]uint64, len(memberNames))
	members(session, func(name string, value []byte) {
		if i := slices.Index(memberNames, name); i >= 0 {
			hashes[i] = maphash.Bytes(seed, value) | 1
		}
	})
	c.told[id] = hashes
}

// change is a session's JSON without what the page knows, and null for what there is no more; ok: it is known what
// the page knows. only, if there are any, are the members that are told of.
func (c *changes) change(dst []byte, id string, session []byte, only ...string) (out []byte, ok bool) {
	hashes := c.told[id]
	if hashes == nil {
		return dst, false
	}
	dst = append(dst, '{')
	from := len(dst)
	tell := func(name string, value []byte) {
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
		if h := maphash.Bytes(seed, value) | 1; h != hashes[i] && told(name, only) {
			hashes[i] = h
			tell(name, value)
		}
	})
	for i, name := range memberNames {
		if !seen[i] && hashes[i] != 0 && told(name, only) {
			hashes[i] = 0
			tell(name, []byte("null"))
		}
	}
	return append(dst, '}'), true
}

// quiet are members that change with all that is printed, and that no page shows: of a session that is known they are
// not told again.
var quiet = []string{"version", "duration_ms", "output"}

// inputMembers are what is told with an event of the kind input.
var inputMembers = []string{"needs_input", "activity"}

func told(name string, only []string) bool {
	if len(only) > 0 {
		return slices.Contains(only, name)
	}
	return !slices.Contains(quiet, name)
}

// forget notes that it is not known what the page knows of a session; "": of all.
func (c *changes) forget(id string) {
	delete(c.asked, id)
	if delete(c.told, id); id == "" {
		clear(c.told)
		clear(c.asked)
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

// valueLen is how many bytes of b are its first value.
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

// tellEvent tells of an event: of its session, what the page does not know.
func (c *conn) tellEvent(e *api.Event) error {
	if !c.brief || e.Session == nil {
		c.changes.seq = e.Seq
		return c.say(struct {
			T     string     `json:"t"`
			Event *api.Event `json:"event"`
		}{"event", e})
	}
	session, err := json.Marshal(e.Session)
	if err != nil {
		return err
	}
	if c.terse {
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
		c.changes.whole(id, session)
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
