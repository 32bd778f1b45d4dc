package session

import "bytes"

// A reply to a query is for the program that asked. One that has ended by the time its query
// is read gets none: the shell's editor, or the next command, would take it for keys.

// asked is what the emulator replied to queries up to an offset of the output.
type asked struct {
	at    uint64
	reply []byte
}

// markStart is how the shell's marks begin.
var markStart = []byte("\x1b]133;")

// maxParts bounds the parts of one piece of output: what asks in the rest is taken to have
// asked at its end.
const maxParts = 64

// emulate gives the emulator the bytes at s.off. Those of a shell are given in parts that end at
// its marks, so that it is known on which side of one a program asked.
func (s *Session) emulate(p []byte) {
	if s.shell == nil {
		_, _ = s.engine.Write(p) // never fails
		return
	}
	for parts, at := 0, s.off; len(p) > 0; parts++ {
		n := len(p)
		if i := bytes.Index(p[1:], markStart); i >= 0 && parts < maxParts {
			n = i + 1
		}
		_, _ = s.engine.Write(p[:n]) // never fails
		p, at = p[n:], at+uint64(n)
		if r := s.engine.Replies(nil); len(r) > 0 {
			s.asked = append(s.asked, asked{at, r})
		}
	}
}

// answer types the emulator's replies to queries. On pipes nobody asked: what looks like a
// query is data, and the input is not the emulator's.
func (s *Session) answer() {
	list := append(s.asked, asked{s.off, s.engine.Replies(nil)})
	s.asked = nil
	for i := range list {
		a := &list[i]
		if len(a.reply) == 0 || s.streams.apart || s.shell != nil && s.askerEnded(a.at) {
			continue
		}
		s.inputs.reply(a.reply)
		s.unreadReplies = true
		if s.shell != nil {
			s.lines().Replied()
		}
	}
}

// askerEnded says that the command that printed what stands before an offset has ended.
func (s *Session) askerEnded(at uint64) bool {
	st := s.shell.State()
	switch {
	case st.Running != nil && st.Done:
		return at <= st.Running.End
	case st.Running == nil && s.lastCommand.Number > 0 && !s.lastCommand.Running:
		return at <= s.lastCommand.End
	}
	return false
}
