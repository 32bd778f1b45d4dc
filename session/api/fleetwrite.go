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

// writeAtOnce is how much of a list is written at once: the reader starts while the rest is produced.
const writeAtOnce = 64 << 10

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
	s := sessionWriter{b: make([]byte, 0, writeAtOnce+writeAtOnce/4), indented: indented}
	for i := range l {
		s.next('[', i == 0, 1)
		if err := s.session(&l[i]); err != nil {
			return err
		}
		if len(s.b) >= writeAtOnce {
			if _, err := w.Write(s.b); err != nil {
				return err
			}
			s.b = s.b[:0]
		}
	}
	s.end(']', 0)
	_, err := w.Write(append(s.b, '\n'))
	return err
}

// sessionWriter writes sessions, each member in the order of the type.
type sessionWriter struct {
	b        []byte
	indented bool
	empty    bool // of the session nothing is written yet
}

// next starts a list or an object, or continues it.
func (w *sessionWriter) next(open byte, first bool, depth int) {
	if !first {
		open = ','
	}
	w.b = append(w.b, open)
	w.line(depth)
}

func (w *sessionWriter) end(end byte, depth int) {
	w.line(depth)
	w.b = append(w.b, end)
}

func (w *sessionWriter) line(depth int) {
	if w.indented {
		w.b = append(append(w.b, '\n'), "            "[:2*depth]...)
	}
}

func (w *sessionWriter) session(s *FleetSession) error {
	w.empty = true
	w.text("host", s.Host)
	w.set("away", s.Away)
	w.text("id", s.ID)
	w.text("name", s.Name)
	w.text("state", s.State)
	w.optional("needs_input", s.Needs)
	w.number("approvals", s.Approval)
	w.number("progress", s.Progress)
	w.text("command", s.Command)
	w.optional("cwd", s.Cwd)
	if len(s.Labels) > 0 {
		w.key("labels")
		for i, name := range slices.Sorted(maps.Keys(s.Labels)) {
			w.next('{', i == 0, 3)
			w.name(name)
			w.str(s.Labels[name])
		}
		w.end('}', 2)
	}
	w.optional("agent", s.Agent)
	if s.ExitCode != nil {
		w.key("exit_code")
		w.b = strconv.AppendInt(w.b, int64(*s.ExitCode), 10)
	}
	w.set("stopped", s.Stopped)
	if err := w.time("since", s.Since); err != nil {
		return err
	}
	w.end('}', 1)
	return nil
}

// set writes a member that is there where it is true.
func (w *sessionWriter) set(name string, is bool) {
	if is {
		w.key(name)
		w.b = append(w.b, "true"...)
	}
}

// key starts a member of the session.
func (w *sessionWriter) key(name string) {
	w.next('{', w.empty, 2)
	w.empty = false
	w.name(name)
}

func (w *sessionWriter) name(name string) {
	w.str(name)
	w.b = append(w.b, ':')
	if w.indented {
		w.b = append(w.b, ' ')
	}
}

func (w *sessionWriter) text(name, value string) {
	w.key(name)
	w.str(value)
}

func (w *sessionWriter) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *sessionWriter) number(name string, n int) {
	if n != 0 {
		w.key(name)
		w.b = strconv.AppendInt(w.b, int64(n), 10)
	}
}

func (w *sessionWriter) time(name string, t time.Time) (err error) {
	if !t.IsZero() {
		w.key(name)
		w.b = append(w.b, '"')
		w.b, err = t.AppendText(w.b)
		w.b = append(w.b, '"')
	}
	return err
}

// str writes a string; it leaves special characters to encoding/json.
func (w *sessionWriter) str(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(s) // a string can always be written
			w.b = append(w.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}
