//go:build unix

package tmuxcompat

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shell"
)

// keyNames maps tmux's key names, in lower case. Other words, except a character with a modifier, are text.
var keyNames = map[string]string{
	"enter": "Enter", "kpenter": "Enter", "tab": "Tab", "btab": "S-Tab", "space": "Space", "bspace": "BSpace", "escape": "Escape",
	"up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End",
	"ic": "Insert", "insert": "Insert", "dc": "Delete", "delete": "Delete",
	"npage": "PageDown", "pagedown": "PageDown", "pgdn": "PageDown", "ppage": "PageUp", "pageup": "PageUp", "pgup": "PageUp",
	"f1": "F1", "f2": "F2", "f3": "F3", "f4": "F4", "f5": "F5", "f6": "F6", "f7": "F7", "f8": "F8", "f9": "F9", "f10": "F10", "f11": "F11", "f12": "F12",
}

// firstPromptMS is how long send-keys waits for the first prompt of a new shell, which may discard earlier input.
const firstPromptMS = 5000

// sendKeys implements send-keys.
func sendKeys(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	if x.has('X') {
		return fail("not in a mode")
	}
	times := 1
	if x.has('N') {
		if times, err = count(x.flag('N'), 10000); err != nil {
			return fail("repeat count %v", err)
		}
	}
	var inputs []api.Input
	for range times {
		for _, arg := range x.args {
			in, err := x.key(arg, p)
			if err != nil {
				return err
			}
			inputs = join(inputs, in)
		}
	}
	if len(inputs) == 0 {
		return nil
	}
	s := x.daemon.Session(p.s.ID)
	if p.isStarting() {
		w := api.Wait{Conds: []api.Condition{{Kind: "prompt"}, {Kind: "input"}, {Kind: "exit"}}, TimeoutMS: firstPromptMS}
		_, _ = s.Wait(x.ctx, w) // the typing below reports errors
	}
	for i := range inputs {
		inputs[i].Auto = true
		if _, err := s.Type(x.ctx, inputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// isStarting reports whether the pane's shell has started but not shown its first prompt.
func (p *pane) isStarting() bool {
	switch sh := p.s.Shell; {
	case sh != nil:
		return sh.Phase == "unknown" && sh.N == 0 && sh.Quality != "none"
	case p.Command != "" && shell.Detect(strings.Fields(p.Command)) == shell.Unknown:
		return false
	}
	return p.s.State == "running" && time.Since(p.s.Created) < firstPromptMS*time.Millisecond
}

// key returns the input for an argument of send-keys.
func (x *command) key(arg string, p *pane) (api.Input, error) {
	if x.has('H') {
		b, err := hex.DecodeString(strings.Repeat("0", len(arg)%2) + arg)
		if err != nil || len(b) != 1 {
			return api.Input{}, fail("invalid key: %s", arg)
		}
		return api.Input{Data: b}, nil
	}
	if x.has('F') {
		arg = x.format(arg, p)
	}
	if !x.has('l') {
		if code, ok := strings.CutPrefix(arg, "0x"); ok { // a character by its number
			if n, err := strconv.ParseUint(code, 16, 21); err == nil && n > 0 {
				return api.Input{Text: string(rune(n))}, nil
			}
		}
		if pad, ok := strings.CutPrefix(strings.ToUpper(arg), "KP"); ok && len(pad) == 1 && strings.Contains("0123456789./*-+", pad) {
			return api.Input{Text: pad}, nil
		}
		if name, ok := keyName(arg); ok {
			if name == "Enter" {
				return api.Input{Enter: true}, nil
			}
			return api.Input{Keys: []string{name}}, nil
		}
	}
	return api.Input{Text: arg}, nil
}

// keyName returns longterm's name of a key.
func keyName(word string) (string, bool) {
	mods, rest := "", word
	for len(rest) > 2 && rest[1] == '-' && strings.ContainsRune("CMScms", rune(rest[0])) {
		mods += strings.ToUpper(rest[:2])
		rest = rest[2:]
	}
	if mods == "" && len(rest) == 2 && rest[0] == '^' {
		mods, rest = "C-", rest[1:]
	}
	if name, ok := keyNames[strings.ToLower(rest)]; ok {
		return mods + name, true
	}
	if mods != "" && len([]rune(rest)) == 1 {
		if strings.HasPrefix(mods, "C-") {
			rest = strings.ToLower(rest)
		}
		return mods + rest, true
	}
	return "", false
}

// join appends in to the inputs. Text and its Enter become one input, so that two callers never mix within a line.
func join(all []api.Input, in api.Input) []api.Input {
	if n := len(all); n > 0 {
		last := &all[n-1]
		plain := len(last.Data) == 0 && len(last.Keys) == 0 && !last.Enter
		switch {
		case in.Enter && plain:
			last.Enter = true
			return all
		case in.Text != "" && plain:
			last.Text += in.Text
			return all
		case len(in.Keys) > 0 && len(last.Keys) > 0 && !last.Enter:
			last.Keys = append(last.Keys, in.Keys...)
			return all
		case in.Enter && len(last.Keys) > 0 && !last.Enter:
			last.Keys = append(last.Keys, "Enter")
			return all
		case len(in.Data) > 0 && len(last.Data) > 0:
			last.Data = append(last.Data, in.Data...)
			return all
		}
	}
	if in.Enter {
		in = api.Input{Keys: []string{"Enter"}}
	}
	return append(all, in)
}
