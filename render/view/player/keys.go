package player

import (
	"errors"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/render/view/keymap"
)

// keys maps the names of the player's keys to their functions.
var keys = map[string]func(*player){
	"Space":  func(p *player) { p.paused = !p.paused },
	"q":      func(p *player) { p.quit = true },
	"Escape": func(p *player) { p.quit = true },
	"C-c":    func(p *player) { p.quit = true },
	".":      (*player).step,
	"Left":   func(p *player) { p.seek(p.at.Add(-5 * time.Second)) },
	"Right":  func(p *player) { p.seek(p.at.Add(5 * time.Second)) },
	"Down":   func(p *player) { p.seek(p.at.Add(-time.Minute)) },
	"Up":     func(p *player) { p.seek(p.at.Add(time.Minute)) },
	"Home":   func(p *player) { p.seek(p.start) },
	"End":    func(p *player) { p.seek(p.end) },
	"+":      func(p *player) { p.o.Speed = min(p.o.Speed*2, maxSpeed) },
	"-":      func(p *player) { p.o.Speed = max(p.o.Speed/2, minSpeed) },
	"/":      func(p *player) { p.searchText = new(string) },
	"n":      func(p *player) { p.search(p.lastSearch) },
}

// hints lists the keys in short form, the most important first.
var hints = []string{"←→ 5 s", "↑↓ 1 min", "q quit", ". step", "/ find", "n next", "+- speed"}

func (p *player) event(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventResize:
		p.canvas.Sync()
		p.needsRedraw = true
	case *tcell.EventKey:
		p.key(e)
	}
}

func (p *player) key(e *tcell.EventKey) {
	p.message = ""
	if p.searchText != nil {
		p.onKey(e)
		return
	}
	if do, ok := keys[keymap.KeyLabel(events.Key(e))]; ok {
		do(p)
	}
}

// onKey edits the search text.
func (p *player) onKey(e *tcell.EventKey) {
	switch e.Key() {
	case tcell.KeyEnter:
		text := *p.searchText
		p.searchText = nil
		p.search(text)
	case tcell.KeyEscape, tcell.KeyCtrlC:
		p.searchText = nil
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if r := []rune(*p.searchText); len(r) > 0 {
			*p.searchText = string(r[:len(r)-1])
		}
	case tcell.KeyRune:
		*p.searchText += string(e.Rune())
	}
}

// search jumps to the next output that contains text.
func (p *player) search(text string) {
	if text == "" {
		return
	}
	p.lastSearch = text
	at, err := find(p.ctx, p.rec, text, p.at)
	switch {
	case errors.Is(err, errNotFound):
		p.message = "not found from here: " + text
	case err != nil:
		p.message = err.Error()
	default:
		p.paused = true
		p.seek(at)
	}
}
