package respond

// UnreadTail returns the end of the unread output, at most limit bytes, for messages.
func (x *Expecter) UnreadTail(limit int) string {
	var b []byte
	for i := range x.lines {
		u := &x.lines[i]
		b = append(b, u.text[u.unread:]...)
		if u.isComplete {
			b = append(b, '\n')
		}
		if len(b) > 2*limit { // bounds the memory
			b = append(b[:0], b[len(b)-limit:]...)
		}
	}
	if x.text != nil {
		w := x.text.unfinished()
		b = append(b, w.text[w.unread:]...)
	}
	return string(b[max(0, len(b)-limit):])
}
