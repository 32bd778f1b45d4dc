package pipeoutput

import "github.com/longterm-dev/longterm/session/attach"

// Mask removes non-text from a program's terminal output: binary data, by Gate's judgement (escape sequences count as
// text), except text lines within it; and drawings of full-screen programs on the alternate screen. The zero value is
// ready to use, on the primary screen.
type Mask struct {
	judge   Binary
	lines   lines
	nuls    separators
	screens attach.Screens
	held    uint64
	drawn   uint64
}

// Apply overwrites non-text with NULs, which a plain-text rendering (plaintext.Writer) drops. Output offsets stay
// valid, and an accidental sequence start swallows no later text.
func (m *Mask) Apply(p []byte) {
	for len(p) > 0 {
		full := m.screens.IsAlternate()
		part := p[:m.screens.ReadToSwitch(p)]
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

// Restart continues after a gap, on the primary screen. Counters stay.
func (m *Mask) Restart() {
	m.judge.Restart()
	m.lines, m.nuls = lines{}, separators{}
	m.screens.SetAlternate(false)
}

// MaskedBytes returns how many bytes were binary.
func (m *Mask) MaskedBytes() uint64 { return m.held }

// Drawn returns how many bytes were drawn on the alternate screen, and whether it is still shown; `longterm screen` is
// then the better view.
func (m *Mask) Drawn() (bytes uint64, still bool) { return m.drawn, m.screens.IsAlternate() }
