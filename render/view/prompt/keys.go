package prompt

import (
	"strings"
	"unicode"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// viewKeys maps the viewer's named keys to the names in the tables.
var viewKeys = map[rune]string{
	input.KeyUp: "Up", input.KeyDown: "Down", input.KeyLeft: "Left", input.KeyRight: "Right", input.KeyHome: "Home", input.KeyEnd: "End",
	input.KeyDelete: "Delete", input.KeyPageUp: "PageUp", input.KeyPageDown: "PageDown", input.KeyEnter: "Enter", input.KeyTab: "Tab",
	input.KeyBackspace: "Backspace", input.KeyEscape: "Esc",
}

// viewKeyName returns the name of a viewer's key in the tables, and the text that it types.
func viewKeyName(k input.Key) (name, text string) {
	ctrl, alt, shift := k.Mods&input.Ctrl != 0, k.Mods&(input.Alt|input.Meta) != 0, k.Mods&input.Shift != 0
	name, named := viewKeys[k.Code]
	switch {
	case name == "Enter" && (shift || alt):
		return "M-Enter", ""
	case name == "Tab" && shift:
		return "Backtab", ""
	case name == "Esc": // twice in haste is one with Alt
		return name, ""
	case !named && k.Code > 0x10ffff, !named && unicode.IsControl(k.Code):
		return "", ""
	case !named:
		name = string(unicode.ToLower(k.Code))
		if !ctrl && !alt {
			name, text = string(k.Code), k.Text
		} else if !ctrl {
			name = string(k.Code)
		}
	}
	if alt {
		name = "M-" + name
	}
	if ctrl {
		name = "C-" + name
	}
	return name, text
}

var namedKeys = map[tcell.Key]string{
	tcell.KeyUp: "Up", tcell.KeyDown: "Down", tcell.KeyLeft: "Left", tcell.KeyRight: "Right", tcell.KeyHome: "Home", tcell.KeyEnd: "End",
	tcell.KeyDelete: "Delete", tcell.KeyPgUp: "PageUp", tcell.KeyPgDn: "PageDown", tcell.KeyEnter: "Enter", tcell.KeyTab: "Tab",
	tcell.KeyBacktab: "Backtab", tcell.KeyBackspace: "Backspace", tcell.KeyBackspace2: "Backspace", tcell.KeyEscape: "Esc",
}

// keyName returns a key's name in the tables: "C-a", "M-b", "Left", or the character itself. Terminals report Ctrl in
// several ways; all give the same name.
func keyName(e *tcell.EventKey) string {
	key, mods := e.Key(), e.Modifiers()
	prefix := ""
	if mods&(tcell.ModAlt|tcell.ModMeta) != 0 {
		prefix = "M-"
	}
	if name, ok := namedKeys[key]; ok {
		if mods&tcell.ModCtrl != 0 && key != tcell.KeyBackspace && key != tcell.KeyEnter && key != tcell.KeyTab && key != tcell.KeyEscape {
			prefix = "C-" + prefix
		}
		if mods&tcell.ModShift != 0 && name == "Enter" {
			prefix = "M-" // terminals that distinguish the two
		}
		return prefix + name
	}
	switch {
	case key == tcell.KeyRune && mods&tcell.ModCtrl != 0:
		return "C-" + prefix + string(unicode.ToLower(e.Rune()))
	case key == tcell.KeyRune:
		return prefix + string(e.Rune())
	case key > tcell.KeyCtrlSpace && key <= tcell.KeyCtrlUnderscore: // 65 to 95: '@' + the control character
		return "C-" + prefix + strings.ToLower(string(rune(key)))
	case key > 0 && key < ' ':
		return "C-" + prefix + strings.ToLower(string(rune(key)+'@'))
	}
	return ""
}

// keyText returns the text that a key types, or "".
func keyText(e *tcell.EventKey) string {
	if e.Key() != tcell.KeyRune || e.Modifiers()&(tcell.ModAlt|tcell.ModMeta|tcell.ModCtrl) != 0 || unicode.IsControl(e.Rune()) {
		return ""
	}
	return string(e.Rune())
}
