package policy

import "strings"

// value is what is known of a variable. The zero value is a variable that is not set on the line.
type value struct {
	text  string // with marks
	set   bool
	fixed bool // readonly, or another name of a variable: what is assigned does not count as it is written
}

// change is one entry of the log that undoes assignments.
type change struct {
	name string
	old  value
	had  bool
}

// scope holds the variables, functions and place of the shell at one point of the line.
//
// Assignments are logged. A subshell is left by undoing its part of the log; a branch by making unknown
// what it changed: both cost what was assigned, not what is set, so that a line takes linear time.
type scope struct {
	vars map[string]value
	log  []change
}

func (s *scope) get(name string) value { return s.vars[name] }

func (s *scope) put(name, text string) {
	old, had := s.vars[name]
	s.log = append(s.log, change{name, old, had})
	if len(text) > 64<<10 {
		text = hole
	}
	if old.fixed {
		text = hole
	}
	s.vars[name] = value{text: text, set: true, fixed: old.fixed}
}

// fix says that later assignments to a variable do something else, or nothing.
func (s *scope) fix(name string) {
	v := s.vars[name]
	s.log = append(s.log, change{name, v, v.set})
	v.set, v.fixed = true, true
	s.vars[name] = v
}

func (s *scope) mark() int { return len(s.log) }

// undo takes back all assignments since mark.
func (s *scope) undo(mark int) {
	for i := len(s.log) - 1; i >= mark; i-- {
		c := s.log[i]
		if c.had {
			s.vars[c.name] = c.old
		} else {
			delete(s.vars, c.name)
		}
	}
	s.log = s.log[:mark]
}

// blur makes unknown what was assigned since mark: it may or may not have happened.
func (s *scope) blur(mark int) {
	for _, c := range s.log[mark:] {
		if now := s.vars[c.name]; now.text != c.old.text || !c.had {
			s.vars[c.name] = value{text: hole, set: true, fixed: now.fixed}
		}
	}
}

// split splits an unquoted expansion into words at blanks.
func split(text, ifs string) []string {
	if ifs == "" {
		return []string{text}
	}
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(ifs, r) })
}
