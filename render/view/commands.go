package view

// command is what a key does after the prefix.
type command struct {
	keys  []string // names, as keyName gives them
	label string   // the keys as shown
	hint  string   // in the bar; empty: only in the help
	help  string
	run   func(v *viewer, key string)
}

// commands are the keys after the prefix, in the order they are shown.
var commands = []command{
	{[]string{"n"}, "n", "new", "start a session", func(v *viewer, _ string) { v.create() }},
	{[]string{"x"}, "x", "kill", "kill the session (asks)", func(v *viewer, _ string) { v.askKill() }},
	{[]string{"z"}, "z", "zoom", "show only this session, or all again", func(v *viewer, _ string) { v.m.zoomed = !v.m.zoomed }},
	{[]string{"Tab"}, "Tab", "next", "next session; Shift-Tab: the one before", func(v *viewer, _ string) { v.m.step(1) }},
	{[]string{"h", "j", "k", "l", "Left", "Down", "Up", "Right"}, "hjkl", "move", "pane left, down, up, right; arrows too", (*viewer).moveFocus},
	{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "1-9", "go", "session by number", func(v *viewer, key string) { v.m.pick(int(key[0] - '1')) }},
	{[]string{"c"}, "c", "close", "take an ended session off the screen; its history stays", func(v *viewer, _ string) { v.closeEnded() }},
	{[]string{"?"}, "?", "help", "these keys", func(v *viewer, _ string) { v.setMode(modeHelp) }},
	{[]string{"q", "d"}, "q", "quit", "quit, as does d; the sessions go on", func(v *viewer, _ string) { v.quit = true }},
}

// hidden are commands that the table's help mentions beside others.
var hidden = map[string]func(v *viewer){
	"Shift-Tab": func(v *viewer) { v.m.step(-1) },
	"Escape":    func(*viewer) {},
}

// command does what a key after the prefix asks for.
func (v *viewer) command(key string) {
	if run, ok := hidden[key]; ok {
		run(v)
		return
	}
	for i := range commands {
		for _, k := range commands[i].keys {
			if k == key {
				commands[i].run(v, key)
				return
			}
		}
	}
	v.m.message = "no such key; " + keyName(v.o.Prefix) + " ? lists them"
}

// emptyKey does what a key asks for while there is no session.
func (v *viewer) emptyKey(key string) {
	switch key {
	case "n":
		v.create()
	case "q", "d":
		v.quit = true
	case "?":
		v.setMode(modeHelp)
	}
}

var directions = map[string][2]int{
	"h": {-1, 0}, "l": {1, 0}, "k": {0, -1}, "j": {0, 1},
	"Left": {-1, 0}, "Right": {1, 0}, "Up": {0, -1}, "Down": {0, 1},
}

func (v *viewer) moveFocus(key string) {
	d := directions[key]
	v.m.toward(d[0], d[1])
}

func (v *viewer) create() {
	v.spawn(func() {
		id, err := v.src.New(v.ctx)
		v.later(func() {
			if err != nil {
				v.m.message = "no new session: " + err.Error()
				return
			}
			if len(v.m.only) > 0 {
				v.m.only = append(v.m.only, id)
			}
			v.m.expected, v.m.zoomed = id, false
			v.m.welcome()
		})
	})
}

func (v *viewer) askKill() {
	switch {
	case v.m.session(v.m.focus) == nil:
	case v.m.running(v.m.focus):
		v.setMode(modeConfirm)
	default:
		v.closeEnded()
	}
}

func (v *viewer) kill() {
	id := v.m.focus
	v.spawn(func() {
		if err := v.src.Kill(v.ctx, id); err != nil {
			v.later(func() { v.m.message = "not killed: " + err.Error() })
		}
	})
}

// closeEnded takes an ended session off the screen; it stays in the history.
func (v *viewer) closeEnded() {
	switch {
	case v.m.session(v.m.focus) == nil:
	case v.m.running(v.m.focus):
		v.m.message = "it runs; " + keyName(v.o.Prefix) + " x kills it"
	default:
		v.m.dismiss(v.m.focus)
	}
}
