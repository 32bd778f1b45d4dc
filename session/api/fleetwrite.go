package api

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// writeChunk is how much of a list is written at once: the reader starts while the rest is produced.
const writeChunk = 64 << 10

// WriteJSON writes the list as encoding/json does without escaping HTML, and a newline: on one line, or indented by two
// blanks.
func (l FleetSessions) WriteJSON(w io.Writer, indented bool) error {
	if len(l) == 0 {
		text := "[]\n"
		if l == nil {
			text = "null\n"
		}
		_, err := io.WriteString(w, text)
		return err
	}
	s := sessionWriter{b: make([]byte, 0, writeChunk+writeChunk/4), indented: indented}
	for i := range l {
		s.open('[', i == 0, 1)
		if err := s.session(&l[i]); err != nil {
			return err
		}
		if len(s.b) >= writeChunk {
			if _, err := w.Write(s.b); err != nil {
				return err
			}
			s.b = s.b[:0]
		}
	}
	s.close(']', 0)
	_, err := w.Write(append(s.b, '\n'))
	return err
}

// sessionWriter writes sessions, each member in the order of the type.
type sessionWriter struct {
	b        []byte
	indented bool
	empty    bool // no member of the session is written yet
}

// open starts a list or an object, or continues it.
func (w *sessionWriter) open(open byte, first bool, depth int) {
	if !first {
		open = ','
	}
	w.b = append(w.b, open)
	w.newline(depth)
}

// close ends a list or an object.
func (w *sessionWriter) close(end byte, depth int) {
	w.newline(depth)
	w.b = append(w.b, end)
}

// newline starts a line if the output is indented.
func (w *sessionWriter) newline(depth int) {
	if w.indented {
		w.b = append(append(w.b, '\n'), "            "[:2*depth]...)
	}
}

// session writes a session.
func (w *sessionWriter) session(s *FleetSession) error {
	w.empty = true
	w.text("host", s.Host)
	w.writeTrue("away", s.Unreachable)
	w.text("id", s.ID)
	w.text("name", s.Name)
	w.text("state", s.State)
	w.optional("needs_input", s.Needs)
	w.number("approvals", s.Approval)
	w.number("progress", s.Progress)
	w.text("command", s.Command)
	w.optional("cwd", s.Cwd)
	if len(s.Labels) > 0 {
		w.writeKey("labels")
		for i, name := range slices.Sorted(maps.Keys(s.Labels)) {
			w.open('{', i == 0, 3)
			w.name(name)
			w.writeString(s.Labels[name])
		}
		w.close('}', 2)
	}
	w.optional("agent", s.Agent)
	if s.ExitCode != nil {
		w.writeKey("exit_code")
		w.b = strconv.AppendInt(w.b, int64(*s.ExitCode), 10)
	}
	w.writeTrue("stopped", s.Stopped)
	if err := w.time("since", s.Since); err != nil {
		return err
	}
	w.close('}', 1)
	return nil
}

// writeTrue writes a member if it is true.
func (w *sessionWriter) writeTrue(name string, is bool) {
	if is {
		w.writeKey(name)
		w.b = append(w.b, "true"...)
	}
}

// writeKey starts a member of the session.
func (w *sessionWriter) writeKey(name string) {
	w.open('{', w.empty, 2)
	w.empty = false
	w.name(name)
}

// name writes a member's name.
func (w *sessionWriter) name(name string) {
	w.writeString(name)
	w.b = append(w.b, ':')
	if w.indented {
		w.b = append(w.b, ' ')
	}
}

// text writes a member with a string.
func (w *sessionWriter) text(name, value string) {
	w.writeKey(name)
	w.writeString(value)
}

// optional writes a member unless it is empty.
func (w *sessionWriter) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

// number writes a member with a number.
func (w *sessionWriter) number(name string, n int) {
	if n != 0 {
		w.writeKey(name)
		w.b = strconv.AppendInt(w.b, int64(n), 10)
	}
}

// time writes a member with a time.
func (w *sessionWriter) time(name string, t time.Time) (err error) {
	if !t.IsZero() {
		w.writeKey(name)
		w.b = append(w.b, '"')
		w.b, err = t.AppendText(w.b)
		w.b = append(w.b, '"')
	}
	return err
}

// writeString writes a string; it leaves special characters to encoding/json.
func (w *sessionWriter) writeString(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(s) // a string can always be encoded
			w.b = append(w.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}
