package prompt

import "unicode/utf8"

func (p *Prompt) beginSearch() {
	p.search = &search{at: len(p.o.History.lines), from: saved{p.line.text, p.line.cursor}, shell: p.shell}
	p.historyPos.on = false
}

// searchKey handles a key during a search. A key that ends the search also has its usual effect.
func (p *Prompt) searchKey(name, text string) (taken bool) {
	s, h := p.search, p.o.History
	switch {
	case name == "C-r":
		s.find(h, s.at-1)
	case text != "":
		s.query += text
		s.find(h, s.at)
	case name == "Backspace" || name == "C-h":
		if s.query == "" {
			break
		}
		_, n := utf8.DecodeLastRuneInString(s.query)
		s.query = s.query[:len(s.query)-n]
		s.find(h, len(h.lines))
	case name == "Esc" || name == "C-g":
		p.line.text, p.line.cursor, p.shell = s.from.text, s.from.cursor, s.shell
		p.search = nil
		return true
	default:
		p.search = nil
		return false
	}
	if !s.fails && s.at < len(h.lines) && s.query != "" {
		p.recall(h.lines[s.at])
	}
	return true
}
