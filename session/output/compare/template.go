package compare

import (
	"bytes"
	"strings"
)

// maxLine bounds the part of a line that is compared, in bytes.
const maxLine = 4 << 10

// Template returns the line with everything that varies between two equal runs replaced.
func Template(line string) string { return string(appendTemplate(nil, []byte(line))) }

// appendTemplate appends the template of a line to dst.
func appendTemplate(dst, line []byte) []byte {
	line = line[:min(len(line), maxLine)]
	t := templater{in: line, out: dst, start: len(dst)}
	for t.at < len(line) {
		switch byteClass[line[t.at]] {
		case classDigit, classLetter:
			t.writeWord()
		case classSpace:
			t.at++
			t.writeSpace()
		case classEscape:
			t.skipEscape()
		case classNonASCII:
			t.writeSymbol()
		default:
			t.writePunctuation()
		}
	}
	return bytes.TrimRight(t.out, " ")
}

// Classes of bytes.
const (
	classPunctuation = iota
	classDigit
	classLetter
	classSpace
	classEscape
	classNonASCII
)

// byteClass maps bytes to their classes.
var byteClass = func() (c [256]byte) {
	for i := range c {
		switch b := byte(i); {
		case b >= '0' && b <= '9':
			c[i] = classDigit
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
			c[i] = classLetter
		case b == 0x1b:
			c[i] = classEscape
		case b <= ' ' || b == 0x7f:
			c[i] = classSpace
		case b >= 0x80:
			c[i] = classNonASCII
		}
	}
	return c
}()

// placeholder replaces each part that varies.
const placeholder = '#'

// templater writes the template of one line.
type templater struct {
	in, out     []byte
	start       int // of the line in out
	at          int // in in
	zeroMatters int // cached result of countsFailures: 0 unknown, 1 yes, -1 no
}

// writeSpace writes one space for any number of blanks, and none at the beginning.
func (t *templater) writeSpace() {
	if n := len(t.out); n > t.start && t.out[n-1] != ' ' {
		t.out = append(t.out, ' ')
	}
}

// skipEscape skips an escape sequence.
func (t *templater) skipEscape() {
	t.at++
	if t.at == len(t.in) {
		return
	}
	switch t.in[t.at] {
	case '[': // CSI: up to a final byte
		for t.at++; t.at < len(t.in) && (t.in[t.at] < 0x40 || t.in[t.at] > 0x7e); t.at++ {
		}
	case ']', 'P', '_', '^': // strings: up to BEL or ST
		for t.at++; t.at < len(t.in) && t.in[t.at] != 7 && t.in[t.at] != 0x1b; t.at++ {
		}
		if t.at+1 < len(t.in) && t.in[t.at] == 0x1b {
			t.at++
		}
	}
	t.at = min(t.at+1, len(t.in))
}

// writeSymbol writes a character outside ASCII. Bars and spinners are written as one character.
func (t *templater) writeSymbol() {
	rest := t.in[t.at:]
	size := 1
	for size < min(4, len(rest)) && rest[size]&0xc0 == 0x80 {
		size++
	}
	t.at += size
	c := rest[:size]
	if size == 3 && c[0] == 0xe2 && (c[1] >= 0xa0 && c[1] <= 0xa3 || c[1] == 0x96) { // Braille, blocks
		c = []byte("\u2588")
	}
	if bytes.HasSuffix(t.out[t.start:], c) {
		return
	}
	t.out = append(t.out, c...)
}

// writePunctuation writes a punctuation character, or the path or "(cached)" that starts there.
func (t *templater) writePunctuation() {
	c := t.in[t.at]
	if c == '(' && bytes.HasPrefix(t.in[t.at:], cachedNote) {
		t.at += len(cachedNote)
		t.writeNumber()
		return
	}
	if c == '/' && t.startsPath() {
		t.writePath()
		return
	}
	t.at++
	if n := len(t.out); n-t.start >= 3 && t.out[n-1] == c && t.out[n-2] == c && t.out[n-3] == c { // a rule or a bar
		return
	}
	t.out = append(t.out, c)
}

// cachedNote is printed by go test in place of a duration.
var cachedNote = []byte("(cached)")

// startsPath reports whether the slash at t.at starts an absolute path.
func (t *templater) startsPath() bool {
	if t.at > 0 {
		switch before := t.in[t.at-1]; byteClass[before] {
		case classDigit, classLetter, classNonASCII:
			return false
		case classPunctuation:
			switch before {
			case '.', '/', '~', '_', '-', '}', '*', ')', ']':
				return false
			case ':':
				if t.at+1 < len(t.in) && t.in[t.at+1] == '/' { // a URL
					return false
				}
			}
		}
	}
	return t.at+1 < len(t.in) && byteClass[t.in[t.at+1]] != classSpace && t.in[t.at+1] != '/'
}

// tempDirs lists directories whose entries have random names.
var tempDirs = [][]byte{[]byte("/tmp/"), []byte("/var/tmp/"), []byte("/private/tmp/"), []byte("/dev/shm/"), []byte("/var/folders/")}

// writePath writes an absolute path without its directories: they differ between checkouts, machines and runs.
func (t *templater) writePath() {
	from, end := t.at, t.at
	last := 0
	for ; end < len(t.in) && !endsPath[t.in[end]]; end++ {
		if t.in[end] == '/' {
			last = end - from
		}
	}
	path := t.in[from:end]
	t.out = append(t.out, '/')
	for _, dir := range tempDirs {
		if last == len(dir)-1 && bytes.HasPrefix(path, dir) {
			t.out, t.at = append(t.out, placeholder), end
			return
		}
	}
	t.at = from + last + 1 // the file name follows as a word
}

// endsPath marks the bytes that end a path.
var endsPath = func() (ends [256]bool) {
	for i := range ends {
		ends[i] = byteClass[i] == classSpace || byteClass[i] == classEscape || strings.IndexByte("\"'`:,;()<>[]{}|=", byte(i)) >= 0
	}
	return ends
}()

// writeWord writes a run of letters and digits.
func (t *templater) writeWord() {
	from, digits := t.at, 0
	in := t.in
	i := from
	for i < len(in) {
		k := byteClass[in[i]]
		if k == classDigit {
			digits++
		} else if k != classLetter {
			break
		}
		i++
	}
	t.at = i
	w := in[from:i]
	switch {
	case digits == 0:
		if len(w) <= 12 && t.isUnit(w) {
			t.out = t.out[:len(t.out)-1] // the space before it
			return
		}
		if (len(w) == 4 || len(w) == 12) && t.isJoinedToNumber() && isHex(w) { // a part of a UUID
			t.writeNumber()
			return
		}
		t.out = append(t.out, w...)
	case digits == len(w):
		t.writeDigits(w)
	case isID(w) || len(w) == 4 && t.isJoinedToNumber() && isHex(w):
		t.writeNumber()
	case byteClass[w[0]] == classDigit:
		t.writeQuantity(w)
	default:
		for _, c := range w {
			if byteClass[c] != classDigit {
				t.out = append(t.out, c)
			} else if n := len(t.out); t.out[n-1] != placeholder {
				t.out = append(t.out, placeholder)
			}
		}
	}
}

// isJoinedToNumber reports whether a dash joins the next word to a number.
func (t *templater) isJoinedToNumber() bool {
	n := len(t.out)
	return n-t.start >= 2 && t.out[n-1] == '-' && t.out[n-2] == placeholder
}

// isID reports whether a word with letters and digits is a hash, an address or another random name.
func isID(w []byte) bool {
	if len(w) >= 3 && w[0] == '0' && w[1]|0x20 == 'x' && isHex(w[2:]) {
		return true
	}
	if len(w) < 6 {
		return false
	}
	if isHex(w) {
		return true
	}
	changes := 0
	for i := 1; i < len(w); i++ {
		if byteClass[w[i]] != byteClass[w[i-1]] {
			changes++
		}
	}
	return len(w) >= 8 && changes >= 3
}

func isHex(w []byte) bool {
	for _, c := range w {
		if byteClass[c] == classLetter && c|0x20 > 'f' {
			return false
		}
	}
	return true
}

// writeDigits writes a number. A zero stays a zero in a line that counts failures.
func (t *templater) writeDigits(w []byte) {
	zero := len(w) == 1 && w[0] == '0'
	if zero && t.at < len(t.in) {
		switch t.in[t.at] {
		case '.', ':', '%', '/', 'x', '-':
			zero = false
		}
	}
	if n := len(t.out); zero && n > t.start {
		switch t.out[n-1] {
		case '.', ':', '/', '-':
			zero = false
		}
	}
	if zero && t.countsFailures() {
		t.out = append(t.out, '0')
		return
	}
	t.writeNumber()
}

// writeNumber writes the placeholder of a number. Joined numbers, as in times and versions, get one placeholder.
func (t *templater) writeNumber() {
	n := len(t.out)
	if n-t.start >= 2 && t.out[n-2] == placeholder {
		switch t.out[n-1] {
		case '.', ':', ',', '/', '-', '+':
			t.out = t.out[:n-1]
			return
		}
	}
	if n > t.start && t.out[n-1] == placeholder {
		return
	}
	t.out = append(t.out, placeholder)
}

// writeQuantity writes a number with letters after it, as 1m20s or 12KiB, without its units.
func (t *templater) writeQuantity(w []byte) {
	for len(w) > 0 {
		n := 0
		for n < len(w) && byteClass[w[n]] == byteClass[w[0]] {
			n++
		}
		if byteClass[w[0]] == classDigit {
			t.writeNumber()
		} else if !units[string(w[:n])] {
			t.out = append(t.out, w[:n]...)
		}
		w = w[n:]
	}
}

// isUnit reports whether a word is a unit of the number before it.
func (t *templater) isUnit(w []byte) bool {
	n := len(t.out)
	return n-t.start >= 2 && t.out[n-1] == ' ' && t.out[n-2] == placeholder && units[string(w)]
}

// units contains units of times and sizes. T and Z occur in ISO 8601.
var units = func() map[string]bool {
	m := map[string]bool{}
	for _, u := range []string{
		"ns", "us", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hour", "hours", "d",
		"B", "byte", "bytes", "b", "k", "K", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "M", "G", "T", "Z",
	} {
		m[u] = true
	}
	return m
}()

// countsFailures reports whether the line counts failures, so that 0 differs from other numbers.
func (t *templater) countsFailures() bool {
	if t.zeroMatters == 0 {
		t.zeroMatters = -1
		for i := range t.in {
			if c := t.in[i] | 0x20; (c == 'f' || c == 'e' || c == 'w' || c == 'x') && hasFailureWord(t.in[i:]) {
				t.zeroMatters = 1
				break
			}
		}
	}
	return t.zeroMatters > 0
}

// hasFailureWord reports whether b starts with a word about failures.
func hasFailureWord(b []byte) bool {
	for _, w := range []string{"fail", "error", "warn", "exit"} {
		if len(b) >= len(w) && equalFold(b[:len(w)], w) {
			return true
		}
	}
	return false
}

// equalFold reports whether b equals a lower-case word of the same length, ignoring the case of ASCII letters.
func equalFold(b []byte, small string) bool {
	for i := range b {
		if b[i]|0x20 != small[i] {
			return false
		}
	}
	return true
}
