package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// readKeyBinding reads an entry of [keys].
func (d *decoder) readKeyBinding(it *tomldoc.Item) {
	name := strings.Join(it.Path, ".")
	text, isText := it.Data.(string)
	switch _, isTable := it.Data.(map[string]any); {
	case isTable && len(it.Path) == 1:
	case len(it.Path) != 2 || !isText:
		d.addProblem(it.ValuePos, name, `found %s, want an action and its keys, as in zoom = "z"`, tomldoc.TypeName(it.Data))
	case !slices.Contains(actions(), it.Path[1]):
		d.addProblem(it.At, name, "the viewer has no such action%s; its help lists them", suggest(it.Path[1], actions()))
	default:
		for _, k := range strings.Fields(text) {
			if err := keymap.CheckChord(k); err != nil {
				d.addProblem(it.ValuePos, name, "%v; keys are named as in C-Space, M-x, F5 or z, those without the prefix as in direct:M-x", err)
				return
			}
		}
		d.file.Settings.Keys[it.Path[1]] = text
		d.file.positions[name] = it.At
	}
}

// actions returns the actions of the viewer's keys.
func actions() []string {
	var names []string
	for _, rows := range [][]keymap.Row{keymap.Prefix, keymap.Scroll} {
		for i := range rows {
			names = append(names, string(rows[i].Action))
		}
	}
	return names
}

// Chords returns the viewer's keys by action.
func (s *Settings) Chords() map[string][]string {
	chords := map[string][]string{}
	for action, keys := range s.Keys {
		chords[action] = strings.Fields(keys)
	}
	return chords
}

// checkKeys reports keys with two actions.
func (d *decoder) checkKeys() {
	if len(d.file.Settings.Keys) == 0 {
		return
	}
	var err error
	for _, preset := range keymap.Presets() { // a flag may choose the preset
		if _, err = keymap.New(preset.With(d.file.Settings.Chords()), preset.Modes...); err != nil {
			break
		}
	}
	if err == nil {
		return
	}
	for _, action := range sortedKeys(d.file.Settings.Keys) { // report it at one of the actions
		if name := "keys." + action; strings.Contains(err.Error(), action) {
			d.addProblem(d.file.positions[name], name, "%v", err)
			return
		}
	}
	d.addProblem(Place{}, "keys", "%v", err)
}

// readThemeColour reads a colour of [themes.NAME].
func (d *decoder) readThemeColour(it *tomldoc.Item) {
	name := strings.Join(it.Path, ".")
	text, isText := it.Data.(string)
	switch _, isTable := it.Data.(map[string]any); {
	case isTable && len(it.Path) < 3:
		return
	case len(it.Path) == 3 && !slices.Contains(partNames(), it.Path[2]):
		d.addProblem(it.At, name, "a theme has no such part%s; there are %s", suggest(it.Path[2], partNames()), strings.Join(partNames(), ", "))
		return
	case len(it.Path) != 3:
		d.addProblem(it.At, name, `colours belong in a theme's section: [themes.NAME], for example background = "#202020"`)
		return
	}
	if n, isNumber := it.Data.(int64); isNumber {
		text, isText = strconv.FormatInt(n, 10), true
	}
	if _, ok := theme.ParseColor(text); !isText || !ok {
		d.addProblem(it.ValuePos, name, `%s is no colour; give "#rrggbb", a number from 0 to 255, "default", or a name as in "red" or "bright-blue"`, quoteData(it.Data))
		return
	}
	themes := d.file.Settings.Themes
	if themes[it.Path[1]] == nil {
		themes[it.Path[1]] = map[string]string{}
	}
	themes[it.Path[1]][it.Path[2]] = text
	d.file.positions[name] = it.At
}

// quoteData returns a value for a message.
func quoteData(data any) string {
	if s, ok := data.(string); ok {
		return strconv.Quote(s)
	}
	return tomldoc.TypeName(data)
}

// partNames returns the parts of a theme.
func partNames() []string {
	var names []string
	for _, p := range theme.Parts {
		names = append(names, p.Name)
	}
	return names
}

// AutoTheme selects the last theme, or the one that suits the terminal.
const AutoTheme = "auto"

// themeNames returns the known themes.
func (s *Settings) themeNames() []string {
	return append(append([]string{AutoTheme}, theme.Names()...), sortedKeys(s.Themes)...)
}

// checkTheme checks that the chosen theme exists and that no built-in one is redefined.
func (d *decoder) checkTheme() {
	s := d.file.Settings
	if at, given := d.file.positions["view.theme"]; given && !slices.Contains(s.themeNames(), s.View.Theme) {
		d.addProblem(at, "view.theme", "no theme %q%s; there are %s", s.View.Theme, suggest(s.View.Theme, s.themeNames()), strings.Join(s.themeNames(), ", "))
	}
	for _, name := range theme.Names() {
		for part := range s.Themes[name] {
			d.addProblem(d.file.positions["themes."+name+"."+part], "themes."+name, "this is a built-in theme; give yours another name")
			break
		}
	}
}
