package attach

import (
	"bytes"
	"slices"
)

// controlQueries are control sequences that request a report: private prefix, intermediates and final byte. Sources:
// xterm ctlseqs, kitty keyboard protocol.
var controlQueries = []struct{ prefix, final string }{
	{"", "c"},   // DA1
	{">", "c"},  // DA2
	{"=", "c"},  // DA3
	{"", "n"},   // DSR
	{"?", "n"},  // DECDSR
	{"", "$p"},  // DECRQM, ANSI modes
	{"?", "$p"}, // DECRQM, private modes
	{">", "q"},  // XTVERSION
	{"?", "u"},  // kitty keyboard flags
	{"?", "m"},  // XTQMODKEYS
	{"?", "S"},  // XTSMGRAPHICS
	{"", "x"},   // DECREQTPARM
	{"", "*y"},  // DECRQCRA
	{"", "$w"},  // DECRQPSR
	{"", "$u"},  // DECRQTSR
	{"", "&u"},  // DECRQUPSS
	{"", "'|"},  // DECRQLP
	{"", "#R"},  // XTREPORTCOLORS
	{"", "#|"},  // XTREPORTSGR
}

// windowReports are the operations of CSI t that request a report.
var windowReports = []string{"11", "13", "14", "15", "16", "18", "19", "20", "21"}

// isControlQuery reports whether a control sequence, ESC [ to final byte, requests a report.
func isControlQuery(seq []byte) bool {
	body := seq[2:]
	prefix := ""
	if c := body[0]; c >= '<' && c <= '?' {
		prefix, body = string(c), body[1:]
	}
	params := len(body)
	for i, c := range body {
		if c >= 0x40 || c >= 0x20 && c < 0x30 {
			params = i
			break
		}
	}
	final := string(body[params:])
	if final == "t" && prefix == "" {
		op, _, _ := bytes.Cut(body[:params], []byte(";"))
		return slices.Contains(windowReports, string(op))
	}
	for _, q := range controlQueries {
		if q.prefix == prefix && q.final == final {
			return true
		}
	}
	return false
}

// isTextQuery reports whether a string sequence, with or without its terminator, requests a report.
func isTextQuery(seq []byte) bool {
	body := seq[2:]
	switch seq[1] {
	case ']':
		return isOSCQuery(trimTerminator(body))
	case 'P': // XTGETTCAP, DECRQSS
		return bytes.HasPrefix(body, []byte("+q")) || bytes.HasPrefix(body, []byte("$q"))
	case '_': // kitty graphics: a query, or any command whose answer is not suppressed
		return bytes.HasPrefix(body, []byte("G")) && bytes.Contains(firstField(body), []byte("a=q"))
	}
	return false
}

// trimTerminator removes the terminator of a string.
func trimTerminator(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\x1b\\"))
	return bytes.TrimRight(b, "\x07\x18\x1a\x1b")
}

// firstField returns the part before the first semicolon.
func firstField(b []byte) []byte {
	f, _, _ := bytes.Cut(b, []byte(";"))
	return f
}

// oscReports are the OSC commands that respond when a field is "?".
var oscReports = []string{"4", "5", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "21", "50", "52", "60", "61", "99", "5522"}

// isOSCQuery reports whether an OSC string requests a report.
func isOSCQuery(body []byte) bool {
	fields := bytes.Split(body, []byte(";"))
	if !slices.Contains(oscReports, string(fields[0])) {
		return false
	}
	for _, f := range fields[1:] {
		if string(f) == "?" || bytes.HasSuffix(f, []byte("=?")) || bytes.HasSuffix(f, []byte("p=?")) {
			return true
		}
	}
	return false
}
