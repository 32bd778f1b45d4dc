package session

import "bytes"

// markStart is how the shell's marks begin.
var markStart = []byte("\x1b]133;")

// maxParts bounds the parts of one piece of output: what asks in the rest is taken to have
// asked at its end.
const maxParts = 64

// emulate gives the emulator the bytes at s.off. Those of a shell are given in parts that end at
// its marks, so that it is known on which side of one a program asked.
func (s *Session) emulate(p []byte) {
	if s.lines.shell == nil {
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
		s.replies.Add(at, s.engine.Replies(nil))
	}
}

// answer types the emulator's replies to queries. On pipes nobody asked: what looks like a
// query is data, and the input is not the emulator's.
func (s *Session) answer() {
	s.replies.Add(s.off, s.engine.Replies(nil))
	for _, r := range s.replies.Take() {
		if s.record.Apart() || s.lines.shell != nil && s.lines.askerEnded(r.At) {
			continue
		}
		s.inputs.Reply(r.Data)
		s.replies.Unread = true
		if s.lines.shell != nil {
			s.lines.machine.Replied()
		}
	}
}

// askerEnded says that the command that printed what stands before an offset has ended.
func (h *lineHost) askerEnded(at uint64) bool {
	st := h.shell.State()
	switch {
	case st.Running != nil && st.Done:
		return at <= st.Running.End
	case st.Running == nil && h.last.Number > 0 && !h.last.Running:
		return at <= h.last.End
	}
	return false
}
