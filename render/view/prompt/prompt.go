package prompt

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Action is what the owner of a Prompt shall do.
type Action struct {
	Kind  ActionKind
	ID    int    // of Run and Cancel: the command
	Text  string // of Run: the line; of Send: the message; of Slash: its arguments
	Slash string // name, without the slash
}

// ActionKind says what to do.
type ActionKind uint8

// Actions.
const (
	Run    ActionKind = iota + 1 // run Text in a shell; tell Output and Finished with ID
	Cancel                       // end command ID now
	Send                         // hand Text to the listeners
	Slash                        // do a slash command
	Leave                        // give the keys back to the sessions
	Warn                         // tell Text: something of the prompt's own failed
)

// Mode is what keys mean; the greater one wins.
type Mode uint8

// Modes.
const (
	Normal Mode = iota
	Shell
)

// Options are what a Prompt is made of. Everything may be left out.
type Options struct {
	History   *History
	Completer Completer
	Slashes   []SlashCommand // default: Slashes
	NoColor   bool
}

// Prompt is the line and what belongs to it. It is not safe for concurrent use.
type Prompt struct {
	o       Options
	line    line
	shell   bool
	begun   bool // shell mode is what it was opened with
	walk    walk
	search  *search
	choice  *choice // completion under way
	out     transcript
	pasting *strings.Builder // a bracketed paste under way
	message string           // until the next key
	aim     Aim
	ground  tcell.Style // of the bar
	colors  colors
}

// New makes a prompt.
func New(o Options) *Prompt {
	if o.History == nil {
		o.History = &History{}
	}
	if o.Slashes == nil {
		o.Slashes = Slashes
	}
	return &Prompt{o: o, ground: dim.Reverse(true), colors: colors{none: o.NoColor}}
}

// Move goes on in another place, with its history and its completion.
func (p *Prompt) Move(h *History, c Completer) {
	p.endCompletion()
	p.walk.on, p.search = false, nil
	if h == nil {
		h = &History{}
	}
	p.o.History, p.o.Completer = h, c
}

// Aim says what becomes of a plain line and of a shell command: in a word for the bar, and
// in a sentence that an empty line shows.
type Aim struct{ To, Says, In, Runs string }

// Aim tells people whom lines are for.
func (p *Prompt) Aim(a Aim) { p.aim = a }

// Wear is how the bar looks.
func (p *Prompt) Wear(ground tcell.Style) { p.ground = ground }

// Tint gives the modes colours of a theme, which may be the terminal's default; nil: the sixteen colours'.
func (p *Prompt) Tint(color func(Mode) tcell.Color) { p.colors.tint = color }

// Tell gives the ends of commands, and what stands for a paste, colours of a theme, which may be the terminal's default.
func (p *Prompt) Tell(good, bad, paste tcell.Color) {
	p.colors.told, p.colors.good, p.colors.bad, p.colors.paste = true, good, bad, paste
}

// Begin makes an empty line a shell command's or a plain one.
func (p *Prompt) Begin(shell bool) {
	if p.line.text == "" {
		p.shell, p.begun = shell, shell
	}
}

// Busy says that a command runs.
func (p *Prompt) Busy() bool { return p.out.running() != nil }

// Mode is what keys mean now.
func (p *Prompt) Mode() Mode {
	if p.shell {
		return Shell
	}
	return Normal
}

// Badge is the mode in a word, for a bar; empty: nothing special.
func (p *Prompt) Badge() string { return modes[p.Mode()].badge }

// Text is the line as it would be sent.
func (p *Prompt) Text() string { return p.line.pastes.expand(p.line.text) }

// Event takes a key, a paste or a mouse event. Others mean nothing to it.
func (p *Prompt) Event(ev tcell.Event) []Action {
	switch e := ev.(type) {
	case *tcell.EventPaste:
		if e.Start() {
			p.pasting = &strings.Builder{}
			return nil
		}
		if p.pasting != nil {
			text := p.pasting.String()
			p.pasting = nil
			p.Paste(text)
		}
	case *tcell.EventKey:
		if p.pasting != nil {
			p.pastedKey(e)
			return nil
		}
		return p.Key(e)
	case *tcell.EventMouse:
		p.Mouse(e)
	}
	return nil
}

// pastedKey takes a key between the marks of a paste: tcell sends characters as keys.
func (p *Prompt) pastedKey(e *tcell.EventKey) {
	switch {
	case e.Key() == tcell.KeyRune:
		p.pasting.WriteRune(e.Rune())
	case e.Key() == tcell.KeyEnter, e.Key() == tcell.KeyCtrlJ, e.Key() == tcell.KeyLF:
		p.pasting.WriteByte('\n')
	case e.Key() == tcell.KeyTab:
		p.pasting.WriteByte('\t')
	}
}

// Paste inserts a text as a whole; a large one is shown as a placeholder.
func (p *Prompt) Paste(text string) {
	text = clean(text)
	if rest, ok := strings.CutPrefix(text, "!"); ok && !p.shell && p.line.text == "" {
		p.shell, text = true, rest
	}
	p.endCompletion()
	p.walk.on = false
	l := &p.line
	l.save(false)
	l.insert(l.pastes.shorten(text))
}

// Mouse scrolls what commands printed.
func (p *Prompt) Mouse(e *tcell.EventMouse) {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		p.out.scrollBy(3)
	case b&tcell.WheelDown != 0:
		p.out.scrollBy(-3)
	}
}

// Key takes a key as tcell tells it, Press one as the viewer does.
func (p *Prompt) Key(e *tcell.EventKey) []Action { return p.press(keyName(e), typed(e)) }

// Press takes a key.
func (p *Prompt) Press(k input.Key) []Action { return p.press(viewKeyName(k)) }

func (p *Prompt) press(name, text string) []Action {
	p.message = ""
	if name == "C-c" {
		return p.interrupt()
	}
	if name == "C-x" {
		p.toggle()
		return nil
	}
	if p.search != nil && p.searchKey(name, text) {
		return nil
	}
	if p.choice != nil && p.choiceKey(name) {
		return nil
	}
	p.endCompletion()
	if text != "" {
		p.typeText(text)
		return nil
	}
	if do, ok := keys[name]; ok {
		return do(p)
	}
	p.walk.on = false
	p.line.apply(name)
	return nil
}

// keys are those that do more than edit the line.
var keys map[string]func(*Prompt) []Action

func init() { // the table and what it calls refer to each other
	quietly := func(f func(*Prompt)) func(*Prompt) []Action {
		return func(p *Prompt) []Action { f(p); return nil }
	}
	keys = map[string]func(*Prompt) []Action{
		"Enter":     (*Prompt).enter,
		"Esc":       (*Prompt).escape,
		"Backspace": quietly((*Prompt).backspace), "C-h": quietly((*Prompt).backspace),
		"Up": quietly(func(p *Prompt) { p.vertical(false) }), "C-p": quietly(func(p *Prompt) { p.vertical(false) }),
		"Down": quietly(func(p *Prompt) { p.vertical(true) }), "C-n": quietly(func(p *Prompt) { p.vertical(true) }),
		"Tab":    quietly((*Prompt).complete),
		"C-r":    quietly((*Prompt).beginSearch),
		"C-d":    (*Prompt).endOrDelete,
		"C-l":    quietly(func(p *Prompt) { p.out.clear() }),
		"PageUp": quietly(func(p *Prompt) { p.out.scrollBy(10) }), "PageDown": quietly(func(p *Prompt) { p.out.scrollBy(-10) }),
	}
}

// typeText types a character. A ! at the beginning turns shell mode on.
func (p *Prompt) typeText(text string) {
	p.walk.on = false
	if text == "!" && !p.shell && p.line.cursor == 0 {
		p.shell = true
		return
	}
	p.line.save(true)
	p.line.insert(text)
	if !isWord([]rune(text)[0]) {
		p.line.undo.typing = false // a word at a time is undone
	}
}

// backspace deletes; at the beginning it deletes the ! that turned shell mode on.
func (p *Prompt) backspace() {
	p.walk.on = false
	if p.line.cursor == 0 {
		p.shell = false
		return
	}
	p.line.apply("Backspace")
}

func (p *Prompt) toggle() {
	p.endCompletion()
	p.search = nil
	p.shell = !p.shell
}

// interrupt is Ctrl-C: it ends what runs at once; else clears the line; else leaves.
func (p *Prompt) interrupt() []Action {
	p.search = nil
	p.endCompletion()
	if b := p.out.running(); b != nil {
		b.cancelled = true
		return []Action{{Kind: Cancel, ID: b.id}}
	}
	if p.line.text != "" {
		p.clear()
		return nil
	}
	return p.escape()
}

// escape clears the line; an empty one leaves shell mode, then the prompt.
func (p *Prompt) escape() []Action {
	switch {
	case p.line.text != "":
		p.clear()
	case p.shell && !p.begun: // a ! turned it on
		p.shell = false
	default:
		return []Action{{Kind: Leave}}
	}
	return nil
}

func (p *Prompt) clear() {
	p.line.save(false)
	p.line.set("")
	p.walk.on = false
}

// endOrDelete is Ctrl-D: on an empty line it leaves.
func (p *Prompt) endOrDelete() []Action {
	if p.line.text == "" {
		return []Action{{Kind: Leave}}
	}
	p.line.apply("C-d")
	return nil
}

// vertical goes to another row of the line, or to another line of the history.
func (p *Prompt) vertical(down bool) {
	if !p.walk.on && p.line.vertical(down) {
		return
	}
	text, ok := p.walk.move(p.o.History, p.written(), !down)
	if !ok {
		return
	}
	p.recall(text)
}

// written is the line as the history has it: shell commands begin with !.
func (p *Prompt) written() string {
	if p.shell {
		return "!" + p.line.text
	}
	return p.line.text
}

// recall puts a line of the history into the prompt.
func (p *Prompt) recall(text string) {
	rest, shell := strings.CutPrefix(text, "!")
	p.shell = shell
	p.line.set(rest)
}

// enter runs or sends the line; after a backslash it goes on.
func (p *Prompt) enter() []Action {
	l := &p.line
	if l.cursor == len(l.text) && strings.HasSuffix(l.text, `\`) && !strings.HasSuffix(l.text, `\\`) {
		l.save(false)
		l.cut(len(l.text)-1, len(l.text))
		l.insert("\n")
		return nil
	}
	text := p.Text()
	if p.shell {
		text = withoutMark(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var actions []Action
	if err := p.o.History.Add(p.remembered(text)); err != nil {
		actions = append(actions, Action{Kind: Warn, Text: err.Error()})
	}
	p.walk.on, p.out.scroll = false, 0
	p.line = line{killed: p.line.killed}
	switch {
	case p.shell:
		return append(actions, p.out.begin(text))
	case strings.HasPrefix(text, "/"):
		return append(actions, p.slash(text)...)
	}
	return append(actions, Action{Kind: Send, Text: text})
}

// withoutMark returns a shell command without a leading !. That turns shell mode on, and some users type it in shell mode as
// well. A ! before a space or a parenthesis is the shell's negation and stays.
func withoutMark(text string) string {
	if rest, marked := strings.CutPrefix(text, "!"); marked && rest != "" && !strings.ContainsRune(" \t(", rune(rest[0])) {
		return rest
	}
	return text
}

func (p *Prompt) remembered(text string) string {
	if p.shell {
		if text[0] == ' ' {
			return text // not to be remembered
		}
		return "!" + text
	}
	return text
}
