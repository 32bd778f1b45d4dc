package respond

// Veil masks secrets in lines that come one after the other.
type Veil interface {
	// Line returns a line as it may be shown, of the same length, or "" if it may not be shown. whole is set if the line has its
	// end.
	Line(line string, whole bool) string
}

// Through has veiled rules see output through a veil. nil: they see it as it is.
func (e *Engine) Through(v Veil) { e.veil = v }

// Veiled says that there are veiled rules.
func (e *Engine) Veiled() bool { return e.set.veiled != nil }

// hide makes what veiled rules see of a window. Each line has to be told: a key goes on over many.
func (e *Engine) hide(w *window) {
	if e.veil == nil || e.set.veiled == nil {
		return
	}
	if got := e.veil.Line(string(w.text), w.complete); got != string(w.text) {
		w.shown = append([]byte{}, got...)
	}
}

// seenBy is what a rule looks at of text, and which of its ends are those of the line.
func (e *Engine) seenBy(rule int, text, shown []byte, ends int) ([]byte, int) {
	if shown == nil || !e.set.rules[rule].Veiled {
		return text, ends
	}
	if len(shown) < len(text) {
		return shown, ends &^ atEnd
	}
	return shown[:len(text)], ends
}
