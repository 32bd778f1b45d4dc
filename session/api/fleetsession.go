package api

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A list of all sessions of a fleet can have a hundred thousand entries, nearly all in the form that json.Marshal
// writes. Those are parsed here, several times faster; encoding/json parses all others. It calls an UnmarshalJSON only
// after two passes, so neither a session nor a list has one.

// Decode reads a session from JSON.
func (s *FleetSession) Decode(b []byte) error {
	r := sessionReader{text: string(b)}
	*s = FleetSession{}
	if r.session(s) && r.at == len(r.text) {
		return nil
	}
	*s = FleetSession{}
	return json.Unmarshal(b, s)
}

// FleetSessions is a list of sessions.
type FleetSessions []FleetSession

// readChunk is how much of a list is read before parsing starts; the sender produces the rest meanwhile.
const readChunk = 256 << 10

// ReadJSON reads the list from the whole input.
func (l *FleetSessions) ReadJSON(from io.Reader) error {
	*l = nil
	q := listReader{want: '['}
	for buf := make([]byte, 0, readChunk); ; {
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == nil && len(buf) < cap(buf):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		left := q.parse(string(buf))
		if err != nil {
			return q.finish(left, l)
		}
		if buf = append(buf[:0], left...); len(buf) > cap(buf)/2 {
			buf = slices.Grow(buf, cap(buf)) // for slow input, check less often
		}
	}
}

// listReader reads a list from pieces of its text.
type listReader struct {
	list FleetSessions
	want byte     // expected before the next session
	read []string // parsed sessions so far
}

// parse parses the sessions at the start of a text and returns the rest.
func (q *listReader) parse(text string) (left string) {
	r := sessionReader{text: text}
	for at := 0; ; at = r.at {
		var s FleetSession
		if !r.accept(q.want) || !r.session(&s) {
			q.read = append(q.read, text[:at])
			return text[at:]
		}
		q.list, q.want = append(q.list, s), ','
	}
}

// finish parses the rest at the end of the list.
func (q *listReader) finish(left string, l *FleetSessions) error {
	if q.want == ',' && strings.TrimSpace(left) == "]" {
		*l = q.list
		return nil
	}
	return json.Unmarshal([]byte(strings.Join(append(q.read, left), "")), (*[]FleetSession)(l))
}

// sessionReader reads a session from compact JSON of known members. Its results are parts of the text.
type sessionReader struct {
	text string
	at   int
}

// session reads a session into an empty one.
func (r *sessionReader) session(s *FleetSession) bool {
	for first := true; ; first = false {
		key, more, ok := r.key(first)
		if !more || !ok {
			return ok
		}
		if !r.member(key, s) {
			return false
		}
	}
}

// member reads a member's value.
func (r *sessionReader) member(key string, s *FleetSession) (ok bool) {
	switch key {
	case "host":
		s.Host, ok = r.readString()
	case "away":
		s.Unreachable, ok = r.boolean()
	case "id":
		s.ID, ok = r.readString()
	case "name":
		s.Name, ok = r.readString()
	case "state":
		s.State, ok = r.readString()
	case "needs_input":
		s.Needs, ok = r.readString()
	case "approvals":
		s.Approval, ok = r.number()
	case "progress":
		s.Progress, ok = r.number()
	case "command":
		s.Command, ok = r.readString()
	case "cwd":
		s.Cwd, ok = r.readString()
	case "labels":
		if s.Labels != nil {
			return false
		}
		s.Labels, ok = r.labels()
	case "agent":
		s.Agent, ok = r.readString()
	case "exit_code":
		var n int
		n, ok = r.number()
		s.ExitCode = &n
	case "stopped":
		s.Stopped, ok = r.boolean()
	case "since":
		var at string
		at, ok = r.readString()
		return ok && s.Since.UnmarshalText([]byte(at)) == nil
	}
	return ok
}

// labels reads an object of strings.
func (r *sessionReader) labels() (labels map[string]string, ok bool) {
	labels = map[string]string{}
	for first := true; ; first = false {
		key, more, ok := r.key(first)
		if !more || !ok {
			return labels, ok
		}
		if labels[key], ok = r.readString(); !ok {
			return nil, false
		}
	}
}

// key reads an object's next name and its colon; more is false where the object ends.
func (r *sessionReader) key(first bool) (key string, more, ok bool) {
	if first && !r.accept('{') {
		return "", false, false
	}
	if r.accept('}') {
		return "", false, true
	}
	if !first && !r.accept(',') {
		return "", false, false
	}
	key, ok = r.readString()
	return key, true, ok && r.accept(':')
}

// accept skips a byte, and reports whether it was the next one.
func (r *sessionReader) accept(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// readString reads a string.
func (r *sessionReader) readString() (v string, ok bool) {
	if !r.accept('"') {
		return "", false
	}
	from, plain, ascii := r.at, true, true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			v = r.text[from:r.at]
			r.at++
			if !plain {
				return unquote(r.text[from-1 : r.at])
			}
			return v, ascii || utf8.ValidString(v)
		case c == '\\':
			plain = false
			r.at++ // the next character is escaped
		case c < ' ':
			return "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", false
}

// unquote decodes a string with escapes.
func unquote(text string) (v string, ok bool) {
	err := json.Unmarshal([]byte(text), &v)
	return v, err == nil
}

// number parses a small integer; larger ones are left to encoding/json.
func (r *sessionReader) number() (v int, ok bool) {
	from := r.at
	r.accept('-')
	digits := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	if n := r.at - digits; n == 0 || n > 9 || n > 1 && r.text[digits] == '0' {
		return 0, false
	}
	v, err := strconv.Atoi(r.text[from:r.at])
	return v, err == nil
}

// boolean reads true or false.
func (r *sessionReader) boolean() (v, ok bool) {
	rest := r.text[r.at:]
	switch {
	case strings.HasPrefix(rest, "true"):
		r.at += len("true")
		return true, true
	case strings.HasPrefix(rest, "false"):
		r.at += len("false")
		return false, true
	}
	return false, false
}
