package respond

// Redactor masks secrets in consecutive lines.
type Redactor interface {
	// RedactLine returns a line with secrets masked, of the same length, or "" if it must not be shown. whole is set if the
	// line has ended.
	RedactLine(line string, whole bool) string
}

// SetRedactor sets the redactor for redacted rules. With nil they match the unredacted output.
func (e *Engine) SetRedactor(v Redactor) { e.redactor = v }

// HasRedacted reports whether the set has a redacted rule.
func (e *Engine) HasRedacted() bool { return e.set.redacted != nil }

// redact sets the redacted text of a window. The redactor must receive each line, as a private key spans many lines.
func (e *Engine) redact(w *window) {
	if e.redactor == nil || e.set.redacted == nil {
		return
	}
	if got := e.redactor.RedactLine(string(w.text), w.isComplete); got != string(w.text) {
		w.redacted = append([]byte{}, got...)
	}
}

// textForRule returns the text that a rule examines, and its line ends (atStart, atEnd).
func (e *Engine) textForRule(rule int, text, redacted []byte, ends int) ([]byte, int) {
	if redacted == nil || !e.set.rules[rule].Redacted {
		return text, ends
	}
	if len(redacted) < len(text) {
		return redacted, ends &^ atEnd
	}
	return redacted[:len(text)], ends
}
