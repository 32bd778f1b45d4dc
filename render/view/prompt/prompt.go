package prompt

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Action is a task for the owner of a Prompt.
type Action struct {
	Kind  ActionKind
	ID    int    // for Run and Cancel: the command
	Text  string // for Run: the line; for Send: the message; for Slash: its arguments
	Slash string // name of the slash command, without the slash
}

// ActionKind is the kind of an Action.
type ActionKind uint8

// Actions.
const (
	Run    ActionKind = iota + 1 // run Text in a shell; report to Output and Finished with ID
	Cancel                       // end command ID now
	Send                         // send Text to the receiver of messages
	Slash                        // do a slash command
	Leave                        // return the keys to the sessions
	Warn                         // show Text: an operation of the prompt failed
)

// Mode is the meaning of keys; the greatest applicable one is in effect.
type Mode uint8

// Modes.
const (
	Normal Mode = iota
	Shell
)

// Options configures a Prompt. All fields are optional.
type Options struct {
	History   *History
	Completer Completer
	Slashes   []SlashCommand // default: Slashes
	NoColor   bool
}

// Prompt is the line with its state. It is not safe for concurrent use.
type Prompt struct {
	o             Options
	line          line
	shell         bool
	openedInShell bool // the prompt was opened in shell mode
	historyPos    position
	search        *search
	choice        *choice // completion in progress
	out           transcript
	pasting       *strings.Builder // text of a bracketed paste in progress
	message       string           // shown until the next key
	target        Target
	background    tcell.Style // of the bar
	colors        colors
}

// New returns a prompt.
func New(o Options) *Prompt {
	if o.History == nil {
		o.History = &History{}
	}
	if o.Slashes == nil {
		o.Slashes = Slashes
	}
	return &Prompt{o: o, background: dim.Reverse(true), colors: colors{none: o.NoColor}}
}

// SetContext switches to another directory or host, with its history and completion.
func (p *Prompt) SetContext(h *History, c Completer) {
	p.endCompletion()
	p.historyPos.on, p.search = false, nil
	if h == nil {
		h = &History{}
	}
	p.o.History, p.o.Completer = h, c
}

// Target describes the receivers of plain lines and shell commands. To and In are their short forms for the bar. MessageHint
// and ShellHint are sentences shown in an empty line.
type Target struct{ To, MessageHint, In, ShellHint string }

// SetTarget sets the receiver of lines, for display.
func (p *Prompt) SetTarget(a Target) { p.target = a }

// SetBackground sets the background of the bar.
func (p *Prompt) SetBackground(background tcell.Style) { p.background = background }

// SetModeColors sets the colours of the modes from a theme, which may be the terminal's default; nil means the standard colours.
func (p *Prompt) SetModeColors(color func(Mode) tcell.Color) { p.colors.tint = color }

// SetColors sets the theme's colours for success, failure and pasted text. They may be the terminal's default.
func (p *Prompt) SetColors(good, bad, paste tcell.Color) {
	p.colors.themed, p.colors.good, p.colors.bad, p.colors.paste = true, good, bad, paste
}

// SetShell sets whether an empty line is a shell command.
func (p *Prompt) SetShell(shell bool) {
	if p.line.text == "" {
		p.shell, p.openedInShell = shell, shell
	}
}

// Busy reports whether a command runs.
func (p *Prompt) Busy() bool { return p.out.running() != nil }

// Mode returns the current mode.
func (p *Prompt) Mode() Mode {
	if p.shell {
		return Shell
	}
	return Normal
}

// Badge returns the mode's name for a bar, or "" for the normal mode.
func (p *Prompt) Badge() string { return modes[p.Mode()].badge }

// Text returns the line as it would be sent.
func (p *Prompt) Text() string { return p.line.pastes.expand(p.line.text) }

// Event handles a key, paste or mouse event. It ignores others.
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

// pastedKey handles a key between paste marks: tcell sends characters as keys.
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
	p.historyPos.on = false
	l := &p.line
	l.save(false)
	l.insert(l.pastes.shorten(text))
}

// Mouse scrolls the output of commands.
func (p *Prompt) Mouse(e *tcell.EventMouse) {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		p.out.scrollBy(3)
	case b&tcell.WheelDown != 0:
		p.out.scrollBy(-3)
	}
}

// Key handles a tcell key; Press handles the viewer's form of it.
func (p *Prompt) Key(e *tcell.EventKey) []Action { return p.press(keyName(e), keyText(e)) }

// Press handles a key.
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
	p.historyPos.on = false
	p.line.apply(name)
	return nil
}

// keys maps keys that do more than edit the line to their functions.
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

// typeText types a character. A ! at the start switches to shell mode.
func (p *Prompt) typeText(text string) {
	p.historyPos.on = false
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

// backspace deletes a character. At the start it deletes the ! that switched to shell mode.
func (p *Prompt) backspace() {
	p.historyPos.on = false
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

// interrupt handles Ctrl-C: it cancels the running command, else clears the line, else leaves.
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
	case p.shell && !p.openedInShell: // a ! turned it on
		p.shell = false
	default:
		return []Action{{Kind: Leave}}
	}
	return nil
}

func (p *Prompt) clear() {
	p.line.save(false)
	p.line.set("")
	p.historyPos.on = false
}

// endOrDelete handles Ctrl-D: it deletes the next character, or leaves if the line is empty.
func (p *Prompt) endOrDelete() []Action {
	if p.line.text == "" {
		return []Action{{Kind: Leave}}
	}
	p.line.apply("C-d")
	return nil
}

// vertical moves to another row of the line, or to another line of the history.
func (p *Prompt) vertical(down bool) {
	if !p.historyPos.on && p.line.vertical(down) {
		return
	}
	text, ok := p.historyPos.move(p.o.History, p.historyLine(), !down)
	if !ok {
		return
	}
	p.recall(text)
}

// historyLine returns the line as stored in the history: shell commands start with !.
func (p *Prompt) historyLine() string {
	if p.shell {
		return "!" + p.line.text
	}
	return p.line.text
}

// recall loads a line of the history into the prompt.
func (p *Prompt) recall(text string) {
	rest, shell := strings.CutPrefix(text, "!")
	p.shell = shell
	p.line.set(rest)
}

// enter runs or sends the line. After a backslash it adds a row instead.
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
	if err := p.o.History.Add(p.rememberText(text)); err != nil {
		actions = append(actions, Action{Kind: Warn, Text: err.Error()})
	}
	p.historyPos.on, p.out.scroll = false, 0
	p.line = line{killed: p.line.killed}
	switch {
	case p.shell:
		return append(actions, p.out.begin(text))
	case strings.HasPrefix(text, "/"):
		return append(actions, p.slash(text)...)
	}
	return append(actions, Action{Kind: Send, Text: text})
}

// withoutMark returns a shell command without a leading !, which switches to shell mode and which some users type in
// shell mode as well. A ! before a space or a parenthesis is the shell's negation and is kept.
func withoutMark(text string) string {
	if rest, marked := strings.CutPrefix(text, "!"); marked && rest != "" && !strings.ContainsRune(" \t(", rune(rest[0])) {
		return rest
	}
	return text
}

func (p *Prompt) rememberText(text string) string {
	if p.shell {
		if text[0] == ' ' {
			return text // not to be remembered
		}
		return "!" + text
	}
	return text
}
