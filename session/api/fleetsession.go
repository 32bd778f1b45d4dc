package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A list of all sessions of a fleet has a hundred thousand of them, of which nearly all are as json.Marshal writes them:
// those are read here, several times faster, and all others as encoding/json reads them. It calls an UnmarshalJSON only
// with what it has gone through twice: so a session has none, and a list is not handed to it.

// Decode reads a session from JSON.
func (s *FleetSession) Decode(b []byte) error {
	r := sessionReader{text: string(b)}
	if v, ok := r.session(); ok && r.at == len(r.text) {
		*s = v
		return nil
	}
	*s = FleetSession{}
	return json.Unmarshal(b, s)
}

// FleetSessions is a list of them.
type FleetSessions []FleetSession

// UnmarshalJSON implements json.Unmarshaler. What it is given need not have been looked at before.
func (l *FleetSessions) UnmarshalJSON(b []byte) error {
	r := sessionReader{text: string(b)}
	if list, ok := r.list(); ok && strings.TrimSpace(r.text[r.at:]) == "" {
		*l = list
		return nil
	}
	*l = nil
	return json.Unmarshal(b, (*[]FleetSession)(l))
}

func (r *sessionReader) list() (list []FleetSession, ok bool) {
	list = []FleetSession{}
	if !r.take('[') {
		return nil, false
	}
	if r.take(']') {
		return list, true
	}
	for {
		s, ok := r.session()
		if !ok {
			return nil, false
		}
		list = append(list, s)
		if !r.take(',') {
			return list, r.take(']')
		}
	}
}

// sessionReader reads a session from compact JSON of known members. What it reads are parts of the text.
type sessionReader struct {
	text string
	at   int
}

func (r *sessionReader) session() (s FleetSession, ok bool) {
	ok = r.members(func(key string) bool {
		switch key {
		case "host":
			return r.str(&s.Host)
		case "away":
			return r.boolean(&s.Away)
		case "id":
			return r.str(&s.ID)
		case "name":
			return r.str(&s.Name)
		case "state":
			return r.str(&s.State)
		case "needs_input":
			return r.str(&s.Needs)
		case "approvals":
			return r.number(&s.Approval)
		case "progress":
			return r.number(&s.Progress)
		case "command":
			return r.str(&s.Command)
		case "cwd":
			return r.str(&s.Cwd)
		case "labels":
			if s.Labels != nil { // twice
				return false
			}
			s.Labels = map[string]string{}
			return r.members(func(key string) bool {
				var v string
				if !r.str(&v) {
					return false
				}
				s.Labels[key] = v
				return true
			})
		case "agent":
			return r.str(&s.Agent)
		case "exit_code":
			s.ExitCode = new(int)
			return r.number(s.ExitCode)
		case "since":
			var at string
			if !r.str(&at) {
				return false
			}
			return s.Since.UnmarshalText([]byte(at)) == nil
		}
		return false
	})
	return s, ok
}

// members reads an object: of reads the value of each member.
func (r *sessionReader) members(of func(key string) bool) bool {
	if !r.take('{') {
		return false
	}
	if r.take('}') {
		return true
	}
	for {
		var key string
		if !r.str(&key) || !r.take(':') || !of(key) {
			return false
		}
		if !r.take(',') {
			return r.take('}')
		}
	}
}

func (r *sessionReader) take(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *sessionReader) str(v *string) bool {
	if !r.take('"') {
		return false
	}
	from, plain, ascii := r.at, true, true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			*v = r.text[from:r.at]
			r.at++
			if !plain {
				return json.Unmarshal([]byte(r.text[from-1:r.at]), v) == nil
			}
			return ascii || utf8.ValidString(*v)
		case c == '\\':
			plain = false
			r.at++ // what follows ends nothing
		case c < ' ':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return false
}

// number reads a whole number; what is larger than anybody's is left to others.
func (r *sessionReader) number(v *int) bool {
	from := r.at
	r.take('-')
	digits := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	if n := r.at - digits; n == 0 || n > 9 || n > 1 && r.text[digits] == '0' {
		return false
	}
	var err error
	*v, err = strconv.Atoi(r.text[from:r.at])
	return err == nil
}

func (r *sessionReader) boolean(v *bool) bool {
	for word, is := range map[string]bool{"true": true, "false": false} {
		if end := r.at + len(word); end <= len(r.text) && r.text[r.at:end] == word {
			*v, r.at = is, end
			return true
		}
	}
	return false
}
