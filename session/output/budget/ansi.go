package budget

import "strings"

// ansiText is text with escape sequences.
type ansiText struct{}

// reserve returns the bytes reserved for sequences that restore colours and links.
func (ansiText) reserve() int { return maxRestoreBytes }

// maxRestoreBytes bounds the sequences that restore the colours of the tail.
const maxRestoreBytes = 160

// Sequences that end colours and links before the note.
const (
	resetSGR  = "\x1b[0m"
	closeLink = "\x1b]8;;\x1b\\"
)

// pen is the state that sequences have set: the SGR sequences since the last reset, and whether a link is open.
type pen struct {
	sgr      []string
	sgrBytes int // length of sgr
	link     bool
}

// apply updates the pen from an escape sequence.
func (p *pen) apply(seq string) {
	switch {
	case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") && !strings.HasPrefix(seq, "\x1b[>") && !strings.HasPrefix(seq, "\x1b[?"):
		params := seq[2 : len(seq)-1]
		if params == "" || params == "0" || strings.HasPrefix(params, "0;") || p.sgrBytes+len(seq) > 16*maxRestoreBytes {
			p.sgr, p.sgrBytes = p.sgr[:0], 0
		}
		if params != "" && params != "0" {
			p.sgr, p.sgrBytes = append(p.sgr, seq), p.sgrBytes+len(seq)
		}
	case strings.HasPrefix(seq, "\x1b]8;"):
		_, uri, _ := strings.Cut(seq[4:], ";")
		p.link = strings.TrimRight(uri, "\x07\x1b\\") != ""
	}
}

// closeSequence returns the sequences that reset the pen's colours and link.
func (p *pen) closeSequence() string {
	s := ""
	if p.link {
		s = closeLink
	}
	if p.sgrBytes > 0 {
		s += resetSGR
	}
	return s
}

// restoreSequence returns the sequences that set the pen's colours again, or "" if they are too long.
func (p *pen) restoreSequence() string {
	s := strings.Join(p.sgr, "")
	if len(s)+len(resetSGR)+len(closeLink) > maxRestoreBytes {
		return ""
	}
	return s
}

// cutPoints scans the text once, so that it recognizes sequences. Sequences on a boundary stay with the text before it.
func (ansiText) cutPoints(text string, head, tail int) (headEnd, tailStart int, closing, opening string) {
	var p pen
	headEnd, tailStart = -1, -1
	decide := func(from, to int) { // text[from:to] has no sequence, or is one if to is from
		if headEnd < 0 && to >= head {
			headEnd = boundaryBefore(text[:to], from, head)
			closing = p.closeSequence()
		}
		if headEnd >= 0 && tailStart < 0 && to >= tail {
			tailStart = boundaryAfter(text[:to], max(from, tail, headEnd), to)
			opening = p.restoreSequence()
		}
	}
	for i := 0; i < len(text); {
		end := strings.IndexByte(text[i:], '\x1b')
		if end < 0 {
			end = len(text) - i
		}
		if end > 0 {
			decide(i, i+end)
			i += end
			continue
		}
		n := sequenceLen(text[i:])
		if headEnd < 0 && i+n > head {
			headEnd, closing = i, p.closeSequence()
		}
		p.apply(text[i : i+n])
		i += n
		if headEnd >= 0 && tailStart < 0 && i >= tail {
			tailStart, opening = i, p.restoreSequence()
		}
	}
	if headEnd < 0 {
		headEnd = len(text)
	}
	if tailStart < 0 {
		tailStart = len(text)
	}
	return headEnd, max(headEnd, tailStart), closing, opening
}

// sequenceLen returns the length of the escape sequence at the start of text, at least 1. An incomplete one extends to the
// end of text or to the byte that aborts it.
func sequenceLen[T string | []byte](text T) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		return csiLen(text)
	case ']', 'P', '_', '^', 'X':
		return controlStringLen(text)
	}
	i := 1
	for i < len(text) && text[i] >= 0x20 && text[i] <= 0x2f { // intermediates
		i++
	}
	if i < len(text) && text[i] >= 0x30 && text[i] <= 0x7e {
		i++
	}
	return i
}

// csiLen returns the length of a CSI: parameters, intermediates, final byte.
func csiLen[T string | []byte](text T) int {
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return len(text)
}

// maxControlString bounds control strings, so that an unterminated one does not hide the rest of the text.
const maxControlString = 64 << 10

// controlStringLen returns the length of an OSC, DCS, APC, PM or SOS, which BEL or ST ends.
func controlStringLen[T string | []byte](text T) int {
	for i := 2; i < len(text) && i < maxControlString; i++ {
		switch text[i] {
		case 0x07:
			return i + 1
		case 0x18, 0x1a:
			return i
		case 0x1b:
			if i+1 < len(text) && text[i+1] == '\\' {
				return i + 2
			}
			return i
		}
	}
	return min(len(text), maxControlString)
}
