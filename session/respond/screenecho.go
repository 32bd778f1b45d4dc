package respond

import "github.com/longterm-dev/longterm/session/internal/echodetect"

// screenEcho finds the echo of typed lines on screens. A found line keeps its row and column; a line that disappeared
// is dropped.
type screenEcho struct {
	finder echodetect.Finder
	places []echoPlace // by index in finder.Lines
}

// echoPlace is the place of a typed line's echo on the screen.
type echoPlace struct {
	Alt    bool   `json:"alt"` // typed on the alternate screen
	Found  bool   `json:"found"`
	Row    uint64 `json:"row"`    // number of the logical line, if Found
	Col    int    `json:"col"`    // byte offset in the logical line
	Missed int    `json:"missed"` // screens without the echo so far
}

const (
	maxPlaces = 64
	// maxMissed is the number of screens after which an echo that has not appeared is dropped.
	maxMissed = 8
)

// recordTyped records input that was typed while last was the newest screen.
func (e *screenEcho) recordTyped(in Input, state EchoState, last *Screen) {
	var p echoPlace
	var row uint64
	var at int
	if last != nil {
		p.Alt = last.Alt
		for _, l := range last.lines() {
			if l.cursor >= 0 {
				row, at = l.number, l.cursor
			}
		}
	}
	e.finder.RecordTyped(in.Data, state.echoSides(), at, row, 0, in.Secret)
	for len(e.places) < len(e.finder.Lines) {
		e.places = append(e.places, p)
	}
	if over := len(e.places) - maxPlaces; over > 0 {
		e.finder.DropOldest(over)
		e.places = append(e.places[:0], e.places[over:]...)
	}
}

// findEchoes returns the positions of typed text on a screen, by number of the logical line.
func (e *screenEcho) findEchoes(s *Screen, lines []screenLine) map[uint64][]echodetect.Span {
	if len(e.places) == 0 {
		return nil
	}
	masked := make(map[uint64][]echodetect.Span)
	var after echoPlace // place of the echo before; echoes are in the order of typing
	for i := 0; i < len(e.places); i++ {
		p, t := &e.places[i], &e.finder.Lines[i]
		if p.Alt != s.Alt {
			continue
		}
		if e.locate(t, p, after, lines, masked) {
			after = *p
			continue
		}
		if p.Missed++; p.Found || p.Missed > maxMissed {
			e.drop(i)
			i--
		}
	}
	return masked
}

// locate finds the echo of one typed line, at its former place or after the echo of the line before it.
func (e *screenEcho) locate(t *echodetect.TypedLine, p *echoPlace, after echoPlace, lines []screenLine, masked map[uint64][]echodetect.Span) bool {
	for i := range lines {
		l := &lines[i]
		from := 0
		switch {
		case p.Found && l.number != p.Row || l.number < t.Line || l.number < after.Row:
			continue
		case p.Found:
			from = p.Col
		case l.number == t.Line:
			from = t.At
		}
		if had := masked[l.number]; len(had) > 0 {
			from = max(from, had[len(had)-1].To)
		}
		from = min(from, len(l.text))
		spans, _ := t.Find(echodetect.Line{Text: l.text, Number: l.number, Complete: l.cursor < 0}, from)
		if len(spans) == 0 || p.Found && spans[0].From != p.Col {
			continue
		}
		p.Found, p.Row, p.Col, p.Missed = true, l.number, spans[0].From, 0
		masked[l.number] = append(masked[l.number], spans...)
		return true
	}
	return false
}

// drop removes the typed line i.
func (e *screenEcho) drop(i int) {
	e.places = append(e.places[:i], e.places[i+1:]...)
	e.finder.DropLine(i)
}
