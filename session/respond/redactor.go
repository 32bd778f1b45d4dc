package respond

// Redactor masks secrets in consecutive lines.
type Redactor interface {
	// Line returns a line as it may be shown, of the same length, or "" if it may not be shown. whole is set if the line has its
	// end.
	Line(line string, whole bool) string
}

// SetRedactor sets the redactor for redacted rules. With nil they see the unmasked output.
func (e *Engine) SetRedactor(v Redactor) { e.redactor = v }

// HasRedacted reports whether any rule is redacted.
func (e *Engine) HasRedacted() bool { return e.set.redacted != nil }

// redact sets the text of a window for redacted rules. It must process each line, as a key spans many lines.
func (e *Engine) redact(w *window) {
	if e.redactor == nil || e.set.redacted == nil {
		return
	}
	if got := e.redactor.Line(string(w.text), w.complete); got != string(w.text) {
		w.shown = append([]byte{}, got...)
	}
}

// seenBy returns the text that a rule examines, and which ends of its line it has.
func (e *Engine) seenBy(rule int, text, shown []byte, ends int) ([]byte, int) {
	if shown == nil || !e.set.rules[rule].Redacted {
		return text, ends
	}
	if len(shown) < len(text) {
		return shown, ends &^ atEnd
	}
	return shown[:len(text)], ends
}
