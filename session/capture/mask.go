package capture

import "github.com/longterm-dev/longterm/session/attach"

// Mask takes out of what a program printed on a terminal what is no text: binary data, by Gate's judgement, to which
// escape sequences are text as they are to a terminal, but not the lines of text beside it; and what a full-screen program
// drew on the alternate screen, which is a picture that changes. The zero value is ready to use, on the primary screen.
type Mask struct {
	judge   Binary
	lines   lines
	nuls    separators
	screens attach.Screens
	held    uint64
	drawn   uint64
}

// Apply overwrites what is no text with NULs, which a plain-text rendering (plaintext.Writer) leaves out: offsets in the
// output stay true, and what happens to look like the beginning of a sequence swallows nothing that comes after it.
func (m *Mask) Apply(p []byte) {
	for len(p) > 0 {
		full := m.screens.Alternate()
		part := p[:m.screens.Next(p)]
		p = p[len(part):]
		if full {
			m.drawn += uint64(len(part))
			clear(part)
			continue
		}
		m.primary(part)
	}
}

func (m *Mask) primary(p []byte) {
	for len(p) > 0 {
		part := p[:min(len(p), judged)]
		p = p[len(part):]
		if taken := m.judge.Take(part); !m.judge.End() && !taken {
			m.nuls.odd = false
		} else if !m.nuls.inFields(part) {
			m.nuls = separators{odd: true}
			m.some(part)
			continue
		}
		m.lines.text(part)
		m.held += uint64(m.nuls.apply(part))
	}
}

// some overwrites all but the lines that are text in what was judged binary.
func (m *Mask) some(p []byte) {
	m.lines.split(p, func(p []byte, text bool) {
		if !text {
			m.held += uint64(len(p))
			clear(p)
		}
	})
}

// Restart goes on after a gap, on the primary screen. What was counted stays.
func (m *Mask) Restart() {
	m.judge.Restart()
	m.lines, m.nuls = lines{}, separators{}
	m.screens.Assume(false)
}

// Held is how many bytes were binary.
func (m *Mask) Held() uint64 { return m.held }

// Drawn is how many bytes were drawn on the alternate screen, and whether it is shown still: then `longterm screen`
// says what is of use.
func (m *Mask) Drawn() (bytes uint64, still bool) { return m.drawn, m.screens.Alternate() }
