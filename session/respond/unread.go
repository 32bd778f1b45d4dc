package respond

// UnreadTail returns the end of the unread output, at most limit bytes, for messages.
func (x *Expecter) UnreadTail(limit int) string {
	var b []byte
	for i := range x.lines {
		u := &x.lines[i]
		b = append(b, u.text[u.from:]...)
		if u.complete {
			b = append(b, '\n')
		}
		if len(b) > 2*limit { // long ago
			b = append(b[:0], b[len(b)-limit:]...)
		}
	}
	if x.text != nil {
		w := x.text.current()
		b = append(b, w.text[w.from:]...)
	}
	return string(b[max(0, len(b)-limit):])
}
