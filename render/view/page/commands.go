package page

import (
	"strings"
	"unicode/utf8"
)

// Command is a line that the session's shell ran.
type Command struct {
	N    int
	Text string
}

// Place is a row in which a command was typed.
type Place struct {
	Row int
	N   int
}

// Commands returns the rows in which commands were typed, in reading order. Only a command's text is known, so it
// searches for rows that end with it after something like a prompt, from the newest command and the last row upwards.
func Commands(p *Page, commands []Command) []Place {
	var out []Place
	row := p.End() - 1
	for i := len(commands) - 1; i >= 0; i-- {
		at, ok := p.rowTyped(&commands[i], row)
		if !ok {
			continue // it was cleared away, or lies before what is loaded
		}
		out = append(out, Place{at, commands[i].N})
		row = at - 1
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// rowTyped returns the last row, up to from, in which a command's first line was typed.
func (p *Page) rowTyped(c *Command, from int) (int, bool) {
	want, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
	want = strings.TrimRight(want, " ")
	if want == "" {
		return 0, false
	}
	for row := from; row >= p.First; row-- {
		if row > p.First && p.Line(row-1).Wrapped {
			continue // not the beginning of a line
		}
		line := p.Line(row).Text
		for r := row; p.Line(r).Wrapped && r+1 < p.End(); r++ {
			line += p.Line(r + 1).Text
		}
		if isPrompt(line, want) {
			return row, true
		}
	}
	return 0, false
}

// isPrompt reports whether a line is a prompt followed by a command. Some shells also print text on the right,
// separated by blanks.
func isPrompt(line, command string) bool {
	for at := 0; ; {
		i := strings.Index(line[at:], command)
		if i < 0 {
			return false
		}
		at += i
		before, behind := strings.TrimRight(line[:at], " "), line[at+len(command):]
		if endsPrompt(before) && (strings.TrimSpace(behind) == "" || strings.HasPrefix(behind, "    ")) {
			return true
		}
		at++
	}
}

// endsPrompt reports whether text ends like a prompt: with a sign.
func endsPrompt(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune("$#%>❯➜λ»:]", r) && text != "" || r >= 0xE0A0 && r <= 0xE0D7 // Powerline's
}
