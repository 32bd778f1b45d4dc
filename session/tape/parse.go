package tape

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/suggestname"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Read parses a tape. open reads a file that Source names; nil: not allowed.
func Read(file string, src []byte, open func(name string) ([]byte, error)) (*Tape, error) {
	p := parser{t: &Tape{}, open: open, speed: defaultSpeed}
	if err := p.read(file, src, 0); err != nil {
		return nil, err
	}
	return p.t, nil
}

// word is a piece of a line: a word, a string in quotes or a pattern between slashes.
type word struct {
	text   string
	quote  byte // the quote it was in; '/' of a pattern; 0: none
	line   int
	column int
}

type parser struct {
	t       *Tape
	open    func(string) ([]byte, error)
	speed   time.Duration // of typing
	sources int           // tapes that were read within it

	file  string
	words []word // the rest of the line
	at    word   // the newest one taken
}

func (p *parser) read(file string, src []byte, depth int) error {
	if len(src) > MaxBytes {
		return &Error{file, 1, 1, fmt.Sprintf("the tape has %d bytes; %d are the most", len(src), MaxBytes)}
	}
	if !utf8.Valid(src) {
		return &Error{file, 1, 1, "the tape is not UTF-8 text"}
	}
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		words, err := split(file, strings.TrimRight(line, "\r\n"), n)
		if err != nil {
			return err
		}
		p.file, p.words = file, words
		for len(p.words) > 0 {
			if err := p.command(depth); err != nil {
				return err
			}
			p.file = file // Source has changed it
		}
	}
	return nil
}

// split cuts a line into words.
func split(file, line string, n int) (words []word, err error) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
		case c == '#':
			return words, nil
		case c == '"' || c == '\'' || c == '`' || c == '/' && patternHere(words):
			end := i + 1
			for end < len(line) && line[end] != c {
				if c == '/' && line[end] == '\\' && end+1 < len(line) {
					end++
				}
				end++
			}
			if end >= len(line) {
				return nil, &Error{file, n, i + 1, fmt.Sprintf("the %c that starts here has no end on its line", c)}
			}
			words = append(words, word{line[i+1 : end], c, n, i + 1})
			i = end + 1
		default:
			end := i
			for end < len(line) && line[end] != ' ' && line[end] != '\t' {
				end++
			}
			words = append(words, word{line[i:end], 0, n, i + 1})
			i = end
		}
	}
	return words, nil
}

// patternHere reports whether a slash starts a pattern, not a path: after Wait and WaitPattern.
func patternHere(before []word) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1].text
	return last == "WaitPattern" || last == "Wait" || strings.HasPrefix(last, "Wait+") || strings.HasPrefix(last, "Wait@")
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{p.file, p.at.line, p.at.column, fmt.Sprintf(format, args...)}
}

// next returns the next word, which must exist.
func (p *parser) next(what string) (word, error) {
	if len(p.words) == 0 {
		return word{}, p.fail("%s wants %s", p.at.text, what)
	}
	p.at, p.words = p.words[0], p.words[1:]
	return p.at, nil
}

// commands are the words that may start a command, besides keys.
var commands = map[string]func(p *parser, mods, at string, depth int) error{
	"Output":     func(p *parser, _, _ string, _ int) error { return p.path(&p.t.Outputs) },
	"Require":    func(p *parser, _, _ string, _ int) error { return p.path(&p.t.Requires) },
	"Set":        func(p *parser, _, _ string, _ int) error { return p.set() },
	"Env":        func(p *parser, _, _ string, _ int) error { return p.env() },
	"Type":       func(p *parser, _, at string, _ int) error { return p.typing(at) },
	"Sleep":      func(p *parser, _, _ string, _ int) error { return p.sleep() },
	"Wait":       func(p *parser, mods, at string, _ int) error { return p.wait(mods, at) },
	"Hide":       func(p *parser, _, _ string, _ int) error { return p.add(Step{Kind: Hide}) },
	"Show":       func(p *parser, _, _ string, _ int) error { return p.add(Step{Kind: Show}) },
	"Paste":      func(p *parser, _, _ string, _ int) error { return p.add(Step{Kind: Paste}) },
	"Copy":       func(p *parser, _, _ string, _ int) error { return p.text(Copy, "a text") },
	"Screenshot": func(p *parser, _, _ string, _ int) error { return p.text(Screenshot, "a file") },
}

// keyNames are keys as tapes name them, and as vterm/input does.
var keyNames = map[string]string{
	"Enter": "Enter", "Tab": "Tab", "Space": "Space", "Backspace": "Backspace", "Delete": "Delete", "Insert": "Insert",
	"Escape": "Escape", "Up": "Up", "Down": "Down", "Left": "Left", "Right": "Right", "Home": "Home", "End": "End",
	"PageUp": "PageUp", "PageDown": "PageDown",
}

// command reads one command. Its first word has a name, +Modifiers and @Time.
func (p *parser) command(depth int) error {
	w, err := p.next("")
	if err != nil {
		return err
	}
	first, at, _ := strings.Cut(w.text, "@")
	name, mods, _ := strings.Cut(first, "+")
	if w.quote != 0 {
		return p.fail("a command is wanted here, as in Type %q", w.text)
	}
	if name == "Source" {
		return p.source(depth)
	}
	if f := commands[name]; f != nil {
		if mods != "" && name != "Wait" || at != "" && name != "Wait" && name != "Type" {
			return p.fail("%s is not understood; write %s", w.text, name)
		}
		return f(p, mods, at, depth)
	}
	key, err := keyOf(first)
	if err != nil {
		known := []string{"Source", "Ctrl+c", "Alt+x", "Shift+Tab"}
		for k := range commands {
			known = append(known, k)
		}
		for k := range keyNames {
			known = append(known, k)
		}
		slices.Sort(known)
		if near := suggestname.Nearest(w.text, known); near != "" {
			return p.fail("%s is no command of a tape; did you mean %s?", w.text, near)
		}
		return p.fail("%s is no command of a tape; there are %s", w.text, strings.Join(known, ", "))
	}
	s := Step{Kind: Key, Text: key, Count: 1, Delay: p.speed}
	if s.Delay, err = p.delay(at, p.speed); err != nil {
		return err
	}
	if len(p.words) > 0 && p.words[0].quote == 0 && p.words[0].text[0] >= '0' && p.words[0].text[0] <= '9' {
		n, _ := p.next("")
		if s.Count, err = strconv.Atoi(n.text); err != nil || s.Count < 1 || s.Count > maxCount {
			return p.fail("%s is no number of keys; give 1 to %d", n.text, maxCount)
		}
	}
	return p.add(s)
}

// keyOf returns a key with modifiers in the notation of vterm/input.
func keyOf(s string) (string, error) {
	parts := strings.Split(s, "+")
	last := parts[len(parts)-1]
	if s == "+" || strings.HasSuffix(s, "++") {
		last, parts = "+", append(strings.Split(strings.TrimSuffix(s, "++"), "+"), "+")
	}
	var b strings.Builder
	for _, m := range parts[:len(parts)-1] {
		switch m {
		case "Ctrl":
			b.WriteString("C-")
		case "Alt":
			b.WriteString("M-")
		case "Shift":
			b.WriteString("S-")
		default:
			return "", fmt.Errorf("modifier %q", m)
		}
	}
	name, ok := keyNames[last]
	if !ok {
		if b.Len() == 0 || utf8.RuneCountInString(last) != 1 {
			return "", fmt.Errorf("key %q", last)
		}
		if name = last; strings.HasSuffix(b.String(), "C-") || strings.Contains(b.String(), "C-") {
			name = strings.ToLower(last) // Ctrl+C is C-c
		}
	}
	if _, err := input.ParseKey(b.String() + name); err != nil {
		return "", err
	}
	return b.String() + name, nil
}

func (p *parser) add(s Step) error {
	if len(p.t.Steps) >= maxSteps {
		return p.fail("a tape has at most %d steps", maxSteps)
	}
	s.Line = p.at.line
	p.t.Steps = append(p.t.Steps, s)
	return nil
}

func (p *parser) path(to *[]string) error {
	w, err := p.next("a name")
	if err == nil && w.text == "" {
		return p.fail("the name is empty")
	}
	*to = append(*to, w.text)
	return err
}

func (p *parser) text(k Kind, what string) error {
	w, err := p.next(what)
	if err != nil {
		return err
	}
	if k == Screenshot && w.text == "" {
		return p.fail("the name of the picture is empty")
	}
	return p.add(Step{Kind: k, Text: w.text})
}

func (p *parser) env() error {
	name, err := p.next("a name and a value")
	if err != nil {
		return err
	}
	if name.text == "" || strings.ContainsAny(name.text, "=\x00") {
		return p.fail("%q is no name of a variable", name.text)
	}
	v, err := p.next("a name and a value")
	if err == nil && strings.Contains(v.text, "\x00") {
		return p.fail("the value has a NUL byte")
	}
	p.t.Env = append(p.t.Env, name.text+"="+v.text)
	return err
}

func (p *parser) typing(at string) error {
	delay, err := p.delay(at, p.speed)
	if err != nil {
		return err
	}
	if len(p.words) == 0 {
		return p.fail("Type wants a text in quotes")
	}
	for len(p.words) > 0 && p.words[0].quote != 0 { // Type "a" "b" types both
		w, _ := p.next("")
		if err := p.add(Step{Kind: Type, Text: w.text, Delay: delay}); err != nil {
			return err
		}
	}
	if p.at.quote == 0 {
		return p.fail("Type wants a text in quotes, as in Type %q", p.words[0].text)
	}
	return nil
}

func (p *parser) sleep() error {
	w, err := p.next("a time")
	if err != nil {
		return err
	}
	d, err := p.delay(w.text, 0)
	if err != nil {
		return err
	}
	return p.add(Step{Kind: Sleep, Delay: d})
}

func (p *parser) wait(where, at string) error {
	s := Step{Kind: Wait}
	var err error
	switch where {
	case "Screen":
		s.Screen = true
	case "", "Line":
	default:
		return p.fail("Wait+%s: there are Wait+Screen and Wait+Line", where)
	}
	if s.Delay, err = p.delay(at, 0); err != nil {
		return err
	}
	if len(p.words) > 0 && p.words[0].quote == '/' {
		w, _ := p.next("")
		if s.Pattern, err = regexp.Compile(w.text); err != nil {
			return p.fail("%v", err)
		}
	}
	return p.add(s)
}

// delay reads a time: 500ms, 2s, 1m, or a number of seconds.
func (p *parser) delay(s string, otherwise time.Duration) (time.Duration, error) {
	if s == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		var sec float64
		if sec, err = strconv.ParseFloat(s, 64); err == nil && sec >= 0 && sec <= maxDelay.Seconds() {
			d = time.Duration(sec * float64(time.Second))
		} else {
			d = -1
		}
	}
	if d < 0 || d > maxDelay {
		return 0, p.fail("%q is no time; write it as in 500ms, 2s or 1m, up to %v", s, maxDelay)
	}
	return d, nil
}

func (p *parser) source(depth int) error {
	w, err := p.next("a tape")
	if err != nil {
		return err
	}
	switch {
	case p.open == nil:
		return p.fail("Source %s: other tapes cannot be read here", w.text)
	case depth >= maxSource:
		return p.fail("Source %s: tapes are within tapes more than %d times", w.text, maxSource)
	}
	if p.sources++; p.sources > maxSources {
		return p.fail("Source %s: a tape has at most %d others within it", w.text, maxSources)
	}
	b, err := p.open(w.text)
	if err != nil {
		return p.fail("Source %s: %v", w.text, err)
	}
	words, at := p.words, p.at
	outputs := len(p.t.Outputs)
	err = p.read(w.text, b, depth+1)
	p.t.Outputs = p.t.Outputs[:outputs] // as in VHS: the played tape defines the outputs
	p.words, p.at = words, at
	return err
}
